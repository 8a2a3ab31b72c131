import assert from 'node:assert/strict'
import { WSDL_BYTES_MAX, WSDL_FILES_MAX, WSDL_ZIP_ENTRIES_MAX } from '../../../../lib/base/limits/soap.ts'
import type { Inspection, UpstreamConfig, WsdlSource } from '../../../../lib/interface/adapter.ts'
import { soapFactory } from '../../../../protocols/soap/soap-factory.ts'
import { FOREVER, jsonOf, plainCall } from '../../../helpers/adapter-bench.ts'
import {
  answering,
  type Behaviour,
  deadUrl,
  type ScriptedUpstream,
  scriptedUpstream
} from '../../../helpers/scripted-upstream.ts'
import { type ZipEntry, zipOf } from '../../../helpers/zip.ts'
import { serving, wsdlOf, XML } from '../soap-kit.ts'

const text = (name: string) => `<xs:element name="${name}" type="xs:string"/>`
const schema = (content: string) =>
  `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:t" elementFormDefault="qualified">${content}</xs:schema>`
/** A WSDL whose only element is in another file. */
const including = (location: string, address = '') =>
  wsdlOf({
    types: `<xs:schema targetNamespace="urn:t"><xs:include schemaLocation="${location}"/></xs:schema>`,
    address
  })

const base64 = (content: string | Uint8Array) => Buffer.from(content).toString('base64')
const filesOf = (files: Readonly<Record<string, string | Uint8Array>>): WsdlSource => ({
  files: Object.fromEntries(Object.entries(files).map(([name, content]) => [name, base64(content)]))
})
const zip = (...entries: ZipEntry[]): WsdlSource => ({ zip: base64(zipOf(entries)) })

describe('SOAP registration by files', () => {
  let service: ScriptedUpstream
  /** Like most SOAP services, it accepts only POST. */
  const posted: Behaviour = (response, received) =>
    (received.method === 'POST' ? serving({}) : answering(405, {}, ''))(response, received)
  before(async () => {
    service = await scriptedUpstream(posted)
  })
  beforeEach(() => {
    service.received.length = 0
    service.behave(posted)
  })
  after(() => service.close())

  const inspect = (wsdl: WsdlSource, path = '/svc', config: Partial<UpstreamConfig> = {}): Promise<Inspection> =>
    soapFactory.inspect({ endpoint: `${service.url}${path}`, wsdl, ...config }, FOREVER)
  const refused = (wsdl: WsdlSource, message: RegExp) =>
    assert.rejects(inspect(wsdl), { code: 'invalid_request', message })
  /** The URL of the called service. */
  const called = async (wsdl: WsdlSource, path: string): Promise<{ target?: string; warnings: readonly string[] }> => {
    const { snapshot, warnings } = await inspect(wsdl, path)
    const adapter = soapFactory.open({ endpoint: `${service.url}${path}`, wsdl }, snapshot)
    const answer = await jsonOf(await adapter.call(plainCall({ operation: 'echo', echo: 'x' }), FOREVER))
    await adapter.close?.()
    assert.deepEqual(answer, { echo: 'x' })
    return { target: service.received.at(-1)?.target ?? '', warnings }
  }

  it('accepts a WSDL with its imports, in folders and with backslashes', async () => {
    const { description, warnings } = await inspect(
      filesOf({
        'main/service.wsdl': including('..\\types\\a b.xsd'),
        'types/a b.xsd': schema('<xs:include schemaLocation="./b%231.xsd"/>'),
        'types/b#1.xsd': schema(text('echo'))
      })
    )
    assert.deepEqual(
      description.operations.map(({ name }) => name),
      ['echo']
    )
    assert(!warnings.join().includes('xsd'), warnings.join())
    assert(service.received.every(({ target }) => target === '/svc'))
  })

  it('reads each file in the charset that it declares', async () => {
    const latin1 = wsdlOf({ schema: text('größe'), operations: { echo: ['größe', 'größe'] } })
    const utf16 = schema(text('größe')).replace(/^/, '<?xml version="1.0" encoding="UTF-16"?>')
    const name = async (source: WsdlSource) => {
      const [echo] = (await inspect(source)).description.operations
      return Object.keys(echo?.input?.['properties'] as object)
    }
    const declared = latin1.replace('<?xml version="1.0"?>', '<?xml version="1.0" encoding="ISO-8859-1"?>')
    assert.deepEqual(await name(filesOf({ 'a.wsdl': Buffer.from(declared, 'latin1') })), ['operation', 'größe'])
    const split = declared
      .replace(text('größe'), '<xs:include schemaLocation="b.xsd"/>')
      .replace('elementFormDefault="qualified"', '')
    const both = { 'a.wsdl': Buffer.from(split, 'latin1'), 'b.xsd': Buffer.from(`\ufeff${utf16}`, 'utf16le') }
    assert.deepEqual(await name(filesOf(both)), ['operation', 'größe'])
    const zipped = Object.entries(both).map(([name, content]) => ({ name, content }))
    assert.deepEqual(await name(zip(...zipped)), ['operation', 'größe'])
  })

  it('finds the WSDL of a zip: the one with a service that no other imports', async () => {
    const whole = wsdlOf({ schema: text('echo') })
    const [, types, messages, binding] =
      /(<wsdl:types>.*<\/wsdl:types>)(.*<\/wsdl:portType>)(.*)<\/wsdl:definitions>/s.exec(whole) ?? []
    const open = whole.slice(0, whole.indexOf('<wsdl:types>'))
    const top = `${open}<wsdl:import namespace="urn:t" location="parts/abstract.wsdl"/>${binding}</wsdl:definitions>`
    const { description, warnings } = await inspect(
      zip(
        { name: '__MACOSX/b/._service.wsdl', content: 'Mac OS X' },
        { name: 'b/readme.pdf', content: 'not XML at all', method: 0 },
        { name: 'b/parts/', method: 0 },
        { name: 'b/parts/abstract.wsdl', content: `${open}${types}${messages}</wsdl:definitions>` },
        { name: 'b/service.wsdl', content: top }
      )
    )
    assert.equal(description.operations.length, 1)
    assert.deepEqual(warnings, [])
  })

  it('requires a selection if several files could be the WSDL', async () => {
    const two = { name: 'b.wsdl', content: wsdlOf({ schema: text('echo'), operations: { two: ['echo', 'echo'] } }) }
    const wsdl = zip({ name: 'a.wsdl', content: wsdlOf({ schema: text('echo') }) }, two)
    await refused(wsdl, /Several files could be the WSDL: a\.wsdl, b\.wsdl\. .*--wsdl-entry/)
    const { description } = await inspect({ ...wsdl, entry: './b.wsdl' })
    assert.equal(description.operations[0]?.name, 'two')
    await refused({ ...wsdl, entry: 'c.wsdl' }, /no "c\.wsdl" among the files; there is a\.wsdl, b\.wsdl/)
    await refused({ entry: 'a.wsdl' }, /needs files or a zip/)
    await refused(filesOf({ 'a.txt': '' }), /no WSDL among the files; there is a\.txt/)
    await refused(zip(), /no WSDL among the files; there is nothing/)
  })

  it('looks up URL imports among the files first', async () => {
    const { warnings } = await inspect(
      filesOf({
        'a.wsdl': including('http://nobody.invalid/x/types.xsd'),
        'xsd/types.xsd': schema('<xs:include schemaLocation="more.xsd"/>'),
        'xsd/more.xsd': schema(text('echo'))
      })
    )
    assert(!warnings.join().includes('xsd'), warnings.join())
  })

  it('reads the rest from the service itself, with its credentials', async () => {
    service.behave(serving({ '/types.xsd': schema(text('echo')) }))
    await inspect(filesOf({ 'a.wsdl': including(`${service.url}/types.xsd`) }), '/svc', { auth: { bearer: 'secret' } })
    const types = service.received.find(({ target }) => target === '/types.xsd')
    assert.equal(types?.headers.authorization, 'Bearer secret')
  })

  it('reports files that are missing', async () => {
    const wsdl = filesOf({
      'a.wsdl': including('gone.xsd').replace('<xs:include', '<xs:include schemaLocation="/etc/passwd"/><xs:include')
    })
    await refused(
      wsdl,
      /no operation that can be called.*element \{urn:t\}echo is not defined.*etc\/passwd is imported, but could not be read: it is not among.*gone\.xsd is imported, but could not be read: it is not among/s
    )
  })

  describe('names as missing', () => {
    const imports = (attributes: string) => wsdlOf({ schema: `<xs:import ${attributes}/>${text('echo')}` })
    const typed = (schema: string) =>
      wsdlOf({ schema: `${schema}<xs:element name="echo" xmlns:z="urn:z" type="z:Echo"/>` })
    const lacking: ReadonlyArray<readonly [what: string, files: Record<string, string>, says: RegExp]> = [
      ['a file', { 'a.wsdl': imports('namespace="urn:x" schemaLocation="x.xsd"') }, /^x\.xsd is imported, but/],
      [
        'a file that another import needs',
        {
          'a.wsdl': imports('namespace="urn:x" schemaLocation="x.xsd"'),
          'x.xsd': schema('<xs:include schemaLocation="y.xsd"/>')
        },
        /^y\.xsd is imported, but/
      ],
      [
        'a part of the WSDL',
        { 'a.wsdl': wsdlOf({ schema: text('echo'), more: '<wsdl:import namespace="urn:t" location="b.wsdl"/>' }) },
        /^b\.wsdl is imported, but/
      ],
      [
        'a page instead of a schema',
        { 'a.wsdl': imports('namespace="urn:x" schemaLocation="x.xsd"'), 'x.xsd': '<!DOCTYPE html><p>No<br>' },
        /^An import could not be used: x\.xsd is an HTML page/
      ],
      [
        'XML of another kind',
        { 'a.wsdl': imports('namespace="urn:x" schemaLocation="x.xsd"'), 'x.xsd': '<html><p>No</p></html>' },
        /^x\.xsd is imported, but is neither a WSDL nor an XML Schema: its root is <html>/
      ],
      ['an address of another origin', { 'a.wsdl': imports('schemaLocation="http://x.invalid/x"') }, /--wsdl-origin/],
      [
        'a used namespace without an address',
        { 'a.wsdl': typed('<xs:import namespace="urn:z"/>') },
        /^urn:z, which a\.wsdl imports, has no address/
      ]
    ]
    for (const [what, files, says] of lacking) {
      it(what, async () => {
        const { missing = [], warnings } = await inspect(filesOf(files))
        assert.equal(missing.length, 1, missing.join())
        assert.match(missing[0] ?? '', says)
        assert.ok(warnings.includes(missing[0] ?? ''))
      })
    }

    it('a part of the WSDL without an address', async () => {
      const whole = wsdlOf({ schema: text('echo'), more: '<wsdl:import namespace="urn:parts"/>' })
      const more = `<wsdl:portType name="More"><wsdl:operation name="more"><wsdl:input xmlns:p="urn:parts" message="p:in"/></wsdl:operation></wsdl:portType>`
      const { missing = [] } = await inspect(
        filesOf({ 'a.wsdl': whole.replace('<wsdl:binding', `${more}<wsdl:binding`) })
      )
      assert.deepEqual(missing, ['urn:parts, which a.wsdl imports, has no address and no definition.'])
    })

    it('nothing that is built in, unused, or in another schema', async () => {
      const own = '<xs:schema targetNamespace="urn:z"><xs:complexType name="Echo"/></xs:schema>'
      const withOwn = typed('<xs:import namespace="urn:z"/>').replace('<wsdl:types>', `<wsdl:types>${own}`)
      const standard = 'namespace="http://schemas.xmlsoap.org/soap/encoding/" schemaLocation="soap-encoding.xsd"'
      for (const wsdl of [imports('namespace="urn:x"'), imports(standard), withOwn]) {
        assert.deepEqual((await inspect(filesOf({ 'a.wsdl': wsdl }))).missing, [])
      }
    })
  })

  it('reports imports without a valid address', async () => {
    const { warnings } = await inspect(
      filesOf({
        'a.wsdl': wsdlOf({
          schema: `<xs:import namespace="urn:x" schemaLocation="http://[x"/><xs:import namespace="urn:y" schemaLocation="urn:y"/><xs:import namespace="urn:z"/>${text('echo')}`
        })
      })
    )
    assert.deepEqual(warnings, [
      '"http://[x", which a.wsdl imports, was not read: it is not a URL.',
      'urn:y, which a.wsdl imports, was not read: its address is not http: or https:.'
    ])
  })

  describe('calls the service', () => {
    const at = (address: string) => filesOf({ 'a.wsdl': wsdlOf({ schema: text('echo'), address }) })

    it('at the endpoint, whatever address is in the WSDL', async () => {
      const wsdl = at('http://inner.invalid/axis/svc')
      assert.deepEqual(await called(wsdl, '/v2/svc.php?tenant=7'), { target: '/v2/svc.php?tenant=7', warnings: [] })
      assert.deepEqual(await called(wsdl, '/v2/svc?WSDL'), { target: '/v2/svc', warnings: [] })
      assert.equal((await called(wsdl, '/v2/svc?singleWsdl')).target, '/v2/svc')
    })

    it('at the path of the WSDL, if the endpoint is an origin', async () => {
      const wsdl = at('http://inner.invalid/axis/svc?x=1')
      assert.deepEqual(await called(wsdl, '/'), { target: '/axis/svc?x=1', warnings: [] })
    })

    it('at several addresses if the endpoint is one of them, else at the endpoint with a warning', async () => {
      const port = (name: string, address: string) =>
        `<wsdl:port name="${name}" binding="t:${name}"><soap:address location="${address}"/></wsdl:port>`
      const rest = (origin: string) =>
        `<wsdl:message name="m"><wsdl:part name="p" element="t:echo"/></wsdl:message>${['one', 'two']
          .map(
            (name) =>
              `<wsdl:portType name="${name}"><wsdl:operation name="${name}"><wsdl:input message="t:m"/><wsdl:output message="t:m"/></wsdl:operation></wsdl:portType>
              <wsdl:binding name="${name}" type="t:${name}"><soap:binding/><wsdl:operation name="${name}"><wsdl:input><soap:body use="literal"/></wsdl:input><wsdl:output><soap:body use="literal"/></wsdl:output></wsdl:operation></wsdl:binding>`
          )
          .join(
            ''
          )}<wsdl:service name="S">${port('one', `${origin}/a/one`)}${port('two', `${origin}/a/two`)}</wsdl:service>`
      const targets = async (origin: string, path: string) => {
        const wsdl = filesOf({ 'a.wsdl': wsdlOf({ schema: text('echo'), rest: rest(origin) }) })
        const { snapshot, warnings } = await inspect(wsdl, path)
        const adapter = soapFactory.open({ endpoint: service.url + path, wsdl }, snapshot)
        for (const operation of ['one', 'two']) await adapter.call(plainCall({ operation, echo: 'x' }), FOREVER)
        await adapter.close?.()
        return { targets: service.received.slice(-2).map(({ target }) => target), warnings: warnings.join() }
      }
      assert.deepEqual(await targets(service.url, '/a/one'), { targets: ['/a/one', '/a/two'], warnings: '' })
      const { targets: all, warnings } = await targets(service.url, '/b')
      assert.deepEqual(all, ['/b', '/b'])
      assert.match(warnings, /has 2 addresses.*All operations are called at .*\/b\. .*register only http:/)
    })

    it('which must be reachable', async () => {
      const endpoint = `${await deadUrl()}/svc`
      await assert.rejects(soapFactory.inspect({ endpoint, wsdl: at('') }, FOREVER), { code: 'upstream_unreachable' })
      for (const [status, says] of [
        [401, /responds with 401: it seems to require credentials \(--auth-file\)/],
        [404, /responds with 404 to a GET\. Check that .*\/svc is its address/],
        [500, /^$/]
      ] as const) {
        service.behave(answering(status, {}, ''))
        assert.match((await inspect(at(''))).warnings.join(), says)
      }
      service.behave(answering(302, { location: 'http://elsewhere.invalid/docs' }, ''))
      assert.match((await inspect(at(''))).warnings.join(), /redirects to http:\/\/elsewhere\.invalid\/docs/)
    })
  })

  describe('refuses', () => {
    const good = { name: 'a.wsdl', content: wsdlOf({ schema: text('echo') }) }
    const bomb = zipOf([{ name: 'a.wsdl', content: Buffer.alloc(64 * 1024 * 1024, 0x20) }])
    const hostile: ReadonlyArray<readonly [what: string, wsdl: WsdlSource, says: RegExp]> = [
      ['a bomb', { zip: base64(bomb) }, /larger than \d+ bytes/],
      ['a bomb that says it is small', zip({ ...good, content: ' '.repeat(9_000_000), size: 100 }), /a\.wsdl damaged/],
      ['a file that is shorter than it says', zip({ ...good, size: 1_000_000 }), /a\.wsdl damaged/],
      ['a wrong checksum', zip({ ...good, crc: 1 }), /a\.wsdl damaged: its checksum/],
      ['a way out', zip(good, { name: '../b.xsd' }), /entry named "\.\.\/b\.xsd", which is outside/],
      ['a way out by backslashes', zip(good, { name: 'x\\..\\..\\b.xsd' }), /which is outside/],
      ['an absolute path', zip(good, { name: '/etc/b.xsd' }), /"\/etc\/b\.xsd", which is outside/],
      ['a drive', zip(good, { name: 'C:\\b.xsd' }), /which is outside/],
      ['encryption', zip({ ...good, flags: 0x801 }), /is encrypted/],
      ['strong encryption', zip({ ...good, flags: 0x841 }), /not a zip file, or it is damaged/],
      ['another compression', zip({ ...good, method: 12 }), /other than deflate/],
      ['the same file twice', zip(good, { ...good, name: './a.wsdl' }), /has a\.wsdl twice/],
      ['ten thousand entries', zip(...Array.from({ length: 10_000 }, (_, i) => ({ name: `${i}.xsd` }))), /more than/],
      [
        'what is cut off',
        { zip: base64(zipOf([good]).subarray(0, 300)) },
        /not a zip file, or it is damaged or truncated/
      ],
      ['a head cut off', { zip: base64(zipOf([good]).subarray(300)) }, /damaged or truncated|not a zip file/],
      ['what is no zip', { zip: base64('PK but no zip') }, /not a zip file/],
      ['what is no base64', { zip: 'ä'.repeat(4) }, /The zip is not base64/],
      ['a file that is no base64', { files: { 'a.wsdl': '<wsdl/>' } }, /a\.wsdl is not base64/],
      ['a file outside', filesOf({ '../a.wsdl': '' }), /cannot be named "\.\.\/a\.wsdl"/],
      ['a file twice', filesOf({ 'a.wsdl': '', './a.wsdl': '' }), /has a\.wsdl twice/],
      ['both ways at once', { ...filesOf({}), ...zip(good) }, /as files or as a zip, not both/],
      ['too many bytes', filesOf({ 'a.wsdl': ' '.repeat(WSDL_BYTES_MAX + 1) }), /larger than \d+ bytes/],
      [
        'too many files',
        filesOf(Object.fromEntries(Array.from({ length: WSDL_FILES_MAX + 1 }, (_, i) => [`${i}.wsdl`, '']))),
        /at most 20 files, and these are 21/
      ]
    ]
    for (const [what, wsdl, says] of hostile) {
      it(`${what}, with the reason`, async () => {
        await refused(wsdl, says)
        assert.equal(service.received.length, 0)
      })
    }

    it('many large WSDLs of a zip, before all are unpacked', async () => {
      const content = wsdlOf({ schema: `${text('echo')}<!-- ${'x'.repeat(WSDL_BYTES_MAX / 4)} -->` })
      const wsdl = zip(...Array.from({ length: 8 }, (_, i) => ({ name: `${i}.wsdl`, content })))
      await refused(wsdl, /larger than \d+ bytes\. Select one with/)
      assert.equal((await inspect({ ...wsdl, entry: '3.wsdl' })).description.operations.length, 1)
    })

    it('nothing of a zip with many entries, few of which belong to the WSDL', async () => {
      const others = Array.from({ length: WSDL_ZIP_ENTRIES_MAX - 1 }, (_, i) => ({ name: `docs/${i}.html` }))
      assert.equal((await inspect(zip(...others, good))).description.operations.length, 1)
    })
  })
})

describe('SOAP imports from other origins', () => {
  const types = (location: string) =>
    wsdlOf({
      types: `<xs:schema targetNamespace="urn:t"><xs:include schemaLocation="${location}"/></xs:schema>`
    })
  async function twoServers(other: Behaviour, run: (main: ScriptedUpstream, other: ScriptedUpstream) => Promise<void>) {
    const second = await scriptedUpstream(other)
    const first = await scriptedUpstream(answering(200, XML, types(`${second.url}/types.xsd`)))
    try {
      await run(first, second)
    } finally {
      await Promise.all([first.close(), second.close()])
    }
  }
  const inspect = (main: ScriptedUpstream, wsdl: WsdlSource, config: Partial<UpstreamConfig> = {}) =>
    soapFactory.inspect({ endpoint: `${main.url}/svc?wsdl`, wsdl, ...config }, FOREVER)
  const auth = { bearer: 'b-secret', headers: { 'x-key': 'k-secret' }, query: { key: 'q-secret' } }

  it("are read from listed origins, without the API's credentials", async () => {
    await twoServers(answering(200, XML, schema(text('echo'))), async (main, other) => {
      const { description, warnings } = await inspect(main, { origins: [other.url] }, { auth })
      assert.equal(description.operations.length, 1)
      assert.deepEqual(warnings, [])
      assert.equal(main.received[0]?.headers.authorization, 'Bearer b-secret')
      assert.equal(other.received.length, 1)
      assert.doesNotMatch(JSON.stringify(other.received), /secret/)
    })
  })

  it('are rejected from other origins, with the option that allows it', async () => {
    await twoServers(answering(200, XML, schema(text('echo'))), async (main, other) => {
      for (const wsdl of [{}, { origins: ['http://127.0.0.1:1', 'https://127.0.0.1'] }]) {
        await assert.rejects(inspect(main, wsdl), (error: Error) => {
          assert(error.message.includes(`register with --wsdl-origin ${other.url}, or upload`), error.message)
          return true
        })
      }
      assert.equal(other.received.length, 0)
    })
  })

  it('cannot bypass the guard, not even by a redirect', async () => {
    await twoServers(answering(200, XML, schema(text('echo'))), async (main, other) => {
      const guard = {
        refuses: (_host: string, _address: string, port: number) => port === Number(new URL(other.url).port)
      }
      const says = /types\.xsd is imported, but could not be read/
      await assert.rejects(inspect(main, { origins: [other.url] }, { guard }), { message: says })
      assert.equal(other.received.length, 0)
    })
    await twoServers(answering(302, { location: 'http://127.0.0.1:1/x.xsd' }, ''), async (main, other) => {
      await assert.rejects(inspect(main, { origins: [other.url] }), {
        message:
          /types\.xsd is imported, but could not be read: The endpoint redirects to http:\/\/127\.0\.0\.1:1\/x\.xsd/
      })
    })
  })

  it('report a required login separately', async () => {
    await twoServers(answering(401, {}, ''), async (main, other) => {
      await assert.rejects(inspect(main, { origins: [other.url] }, { auth }), {
        message: /responds with HTTP 401: it wants a login, and the API's credentials are shown to no other origin/
      })
    })
  })

  it('are listed only by their origins', async () => {
    await twoServers(answering(404, {}, ''), async (main) => {
      for (const origin of [
        'schemas.example.org',
        'https://x.example/path',
        'https://u:p@x.example',
        'ftp://x.example',
        '*'
      ]) {
        await assert.rejects(inspect(main, { origins: [origin] }), {
          code: 'invalid_request',
          message: /is not an origin/
        })
      }
      assert.equal(main.received.length, 0)
    })
  })
})

describe('SOAP diagnosis', () => {
  const redefining = schema('\n<!-- <xs:redefine/> -->\n<xs:redefine schemaLocation="base.xsd"/>')
  const wsdl2 = '<?xml version="1.0"?>\n<d:description xmlns:d="http://www.w3.org/ns/wsdl"/>'
  const bound = wsdlOf({
    rest: `<wsdl:portType name="P"/><wsdl:binding name="B" type="t:P"><h:binding xmlns:h="http://schemas.xmlsoap.org/wsdl/http/" verb="GET"/></wsdl:binding>`
  })
  const found: ReadonlyArray<readonly [what: string, files: Record<string, string>, says: RegExp]> = [
    [
      'xs:redefine in a schema file',
      { 'a.wsdl': including('x/types.xsd'), 'x/types.xsd': redefining },
      /^x\/types\.xsd, in line 3, has xs:redefine of "base\.xsd", which is not supported\. Move the changed types/
    ],
    [
      'xs:redefine in the WSDL',
      { 'a.wsdl': wsdlOf({ types: redefining }) },
      /^a\.wsdl, in line \d+, has xs:redefine of "base\.xsd"/
    ],
    ['WSDL 2.0', { 'a.wsdl': wsdl2 }, /^a\.wsdl, in line 2, is WSDL 2\.0 .* not supported\. Use the WSDL 1\.1/],
    [
      'a draft of WSDL 2.0',
      { 'a.wsdl': '<description xmlns="http://www.w3.org/2006/01/wsdl"/>' },
      /^a\.wsdl, in line 1, is WSDL 2\.0/
    ],
    [
      'WSDL 2.0 that is imported',
      { 'a.wsdl': wsdlOf({ more: '<wsdl:import namespace="urn:x" location="b.xml"/>' }), 'b.xml': wsdl2 },
      /^b\.xml, in line 2, is WSDL 2\.0/
    ],
    ['a binding to HTTP', { 'a.wsdl': bound }, /no SOAP binding: it binds B to other protocols only\. Use the WSDL/],
    [
      'an interface alone, its import missing',
      {
        'a.wsdl': wsdlOf({
          more: '<wsdl:import namespace="urn:t" location="binding.wsdl"/>',
          rest: '<wsdl:portType name="P"/>'
        })
      },
      /no SOAP binding: it describes an interface only\..*binding\.wsdl is imported, but could not be read/
    ],
    ['a schema', { 'a.wsdl': schema(text('echo')) }, /^a\.wsdl is an XML Schema\. Use the WSDL that imports it/],
    ['a page', { 'a.wsdl': '<!DOCTYPE html><title>My\nservice</title>' }, /^a\.wsdl is an HTML page \("My service"\)/],
    ['another document', { 'a.wsdl': '<project/>' }, /^a\.wsdl is not a WSDL: its root is the XML element <project>/],
    ['what is cut off', { 'a.wsdl': wsdlOf({}).slice(0, 200) }, /^a\.wsdl is not well-formed/]
  ]
  for (const [what, files, says] of found) {
    it(`reports the location of ${what}, and the remedy`, async () => {
      const config = { endpoint: 'http://127.0.0.1:1/svc', wsdl: { ...filesOf(files), entry: 'a.wsdl' } }
      await assert.rejects(soapFactory.inspect(config, FOREVER), { code: 'invalid_request', message: says })
    })
  }

  it('reports the same for a URL', async () => {
    const upstream = await scriptedUpstream(serving({ '/svc?wsdl': including('types.xsd'), '/types.xsd': redefining }))
    const inspected = (config: Partial<UpstreamConfig> = {}) =>
      soapFactory.inspect({ endpoint: `${upstream.url}/svc?wsdl`, ...config }, FOREVER)
    await assert.rejects(inspected(), {
      code: 'invalid_request',
      message: /^The response of http:.*\/types\.xsd, in line 3, has xs:redefine/
    })
    upstream.behave(answering(200, { 'content-type': 'text/html' }, '<p>Please <br> log in'))
    await assert.rejects(inspected(), { message: /svc\?wsdl is an HTML page, not a WSDL\..*--auth-file/ })
    upstream.behave(answering(403, {}, ''))
    await assert.rejects(inspected(), {
      message: /responds with HTTP 403: it wants a login\. Register with .*--auth-file/
    })
    await assert.rejects(inspected({ auth: { bearer: 'x' } }), { message: /rejects the credentials/ })
    await upstream.close()
  })
})
