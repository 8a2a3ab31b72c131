import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { readWsdlFile } from '../../../../node/cli/options/wsdl-file.ts'
import { zipOf } from '../../../helpers/zip.ts'

const include = (...locations: string[]) =>
  `<a>${locations.map((location) => `<xs:include\n  schemaLocation="${location}"/>`).join('')}</a>`

describe('--wsdl-file', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'souk-wsdl-'))
  })
  afterEach(() => rm(folder, { recursive: true }))

  const write = async (files: Readonly<Record<string, string | Uint8Array>>) => {
    for (const [name, content] of Object.entries(files)) {
      const path = join(folder, name)
      await mkdir(dirname(path), { recursive: true })
      await writeFile(path, content)
    }
  }
  const read = async (name: string) => {
    const { files = {}, entry } = await readWsdlFile(join(folder, name))
    return { entry, names: Object.keys(files), files }
  }

  it('reads the WSDL and all files it refers to, also indirectly and in cycles, and no others', async () => {
    await write({
      'in/main.wsdl': `<wsdl:import namespace="urn:x" location='abstract.wsdl'/>${include('xsd\\a.xsd?v=1#x', 'http://host.example/deep/saved.xsd')}`,
      'in/abstract.wsdl': include('main.wsdl'),
      'in/xsd/a.xsd': include('../b%20c.xsd', './a.xsd', 'R&amp;D.xsd', 'gone.xsd', 'https://host.example/', ''),
      'in/xsd/R&D.xsd': '<a/>',
      'in/b c.xsd': '<a/>',
      'in/saved.xsd': '<a/>',
      'in/private.xsd': '<a/>',
      'in/urn.xsd': include('urn:x:y', 'file:///etc/hosts')
    })
    const { entry, names, files } = await read('in/main.wsdl')
    assert.equal(entry, 'main.wsdl')
    assert.deepEqual(names.sort(), ['abstract.wsdl', 'b c.xsd', 'main.wsdl', 'saved.xsd', 'xsd/R&D.xsd', 'xsd/a.xsd'])
    assert.equal(Buffer.from(files['b c.xsd'] ?? '', 'base64').toString(), '<a/>')
    assert.deepEqual((await read('in/urn.xsd')).names, ['urn.xsd'])
  })

  it('finds references in any charset, and sends the bytes unchanged', async () => {
    for (const [encoding, swap] of [
      ['utf16le', false],
      ['utf16le', true],
      ['latin1', false]
    ] as const) {
      const bytes = Buffer.from(`${encoding === 'utf16le' ? '\ufeff' : ''}${include('größe.xsd')}`, encoding)
      if (swap) bytes.swap16()
      await write({ 'a.wsdl': bytes, 'größe.xsd': '' })
      const { names, files } = await read('a.wsdl')
      assert.deepEqual(names, ['a.wsdl', 'größe.xsd'])
      assert(bytes.equals(Buffer.from(files['a.wsdl'] ?? '', 'base64')))
    }
  })

  it('never leaves the folder', async () => {
    await write({ 'secret.xsd': 's', 'in/sub/b.xsd': include('../../secret.xsd') })
    const outside = [
      '../secret.xsd',
      'sub/../../secret.xsd',
      '..\\secret.xsd',
      '%2e%2e/secret.xsd',
      '/etc/passwd',
      'C:\\a.xsd',
      'sub/b.xsd'
    ]
    for (const location of outside) {
      await write({ 'in/main.wsdl': include(location) })
      await assert.rejects(
        read('in/main.wsdl'),
        { code: 'usage', message: /which is outside the WSDL’s folder/ },
        location
      )
    }
    await symlink(join(folder, 'secret.xsd'), join(folder, 'in/link.xsd'))
    await symlink(folder, join(folder, 'in/up'))
    for (const location of ['link.xsd', 'up/secret.xsd']) {
      await write({ 'in/main.wsdl': include(location) })
      await assert.rejects(read('in/main.wsdl'), {
        code: 'usage',
        message: /a link to a file outside the WSDL’s folder/,
        hint: /zip/
      })
    }
  })

  it('follows links that stay in the folder', async () => {
    await write({ 'main.wsdl': include('link.xsd'), 'a.xsd': '<a/>' })
    await symlink('a.xsd', join(folder, 'link.xsd'))
    assert.deepEqual((await read('main.wsdl')).names, ['main.wsdl', 'link.xsd'])
  })

  it('sends a zip unchanged, with any file name', async () => {
    const zip = zipOf([{ name: 'a.wsdl', content: '<a/>' }])
    await write({ bundle: zip })
    assert.deepEqual(await readWsdlFile(join(folder, 'bundle')), { zip: zip.toString('base64') })
  })

  it('names the file that cannot be read', async () => {
    await assert.rejects(read('gone.wsdl'), { code: 'usage', message: /gone\.wsdl cannot be read/ })
    await assert.rejects(read('.'), { code: 'usage' })
  })
})
