import assert from 'node:assert/strict'
import { readUpload } from '../../../protocols/graphql/upload.ts'
import { assertCpuBelow, cpuMsOf } from '../../helpers/cpu-time.ts'

const BOUNDARY = 'x'
const TYPE = `multipart/form-data; boundary=${BOUNDARY}`
/** The time of an upload, per time that the platform alone takes for its form. It was four while each file was compared with all others. */
const TIMES_MAX = 2.5

function formOf(fields: ReadonlyArray<readonly [name: string, content: string, file?: string]>): Uint8Array {
  const parts = fields.map(([name, content, file]) => {
    const of = file === undefined ? '' : `; filename="${file}"`
    return `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${of}\r\n\r\n${content}\r\n`
  })
  return Buffer.from(`${parts.join('')}--${BOUNDARY}--\r\n`)
}

describe('an upload', () => {
  it('is written again with the files of its map only, the first of each name', async () => {
    const upload = await readUpload(
      formOf([
        ['operations', '{"query":"{ a }","variables":{"f":null}}'],
        ['map', '{"0":["variables.f"]}'],
        ['0', 'first', 'a.txt'],
        ['0', 'second', 'b.txt'],
        ['1', 'other', 'c.txt']
      ]),
      TYPE
    )
    assert.deepEqual(upload.request.variables, { f: 'file' })
    const { body, contentType } = await upload.encode('{ a }')
    const form = await new Response(Buffer.from(body), { headers: { 'content-type': contentType } }).formData()
    assert.deepEqual([...form.keys()], ['operations', 'map', '0'])
    const file = form.get('0')
    assert(file instanceof File)
    assert.deepEqual([file.name, await file.text()], ['a.txt', 'first'])
    assert.equal(form.get('operations'), '{"query":"{ a }","variables":{"f":null}}')
  })

  it('of thousands of files takes time in proportion to them', async () => {
    const names = Array.from({ length: 32_000 }, (_, at) => `n${at}`)
    const bytes = formOf([
      ['operations', '{"query":"{ a }"}'],
      ['map', JSON.stringify(Object.fromEntries(names.map((name) => [name, []])))],
      ...names.map((name) => [name, '', ''] as const)
    ])
    const platformMs = await cpuMsOf(async () => {
      const form = await new Response(Buffer.from(bytes), { headers: { 'content-type': TYPE } }).formData()
      await new Response(form).arrayBuffer()
    })
    await assertCpuBelow(TIMES_MAX * platformMs, async () => (await readUpload(bytes, TYPE)).encode('{ a }'))
  })
})
