import assert from 'node:assert/strict'
import { SOAP_INLINE_BYTES_MAX, SOAP_MTOM_BYTES_MIN } from '../../../../lib/base/limits/soap.ts'
import { soapFactory } from '../../../../protocols/soap/soap-factory.ts'
import { parseXml } from '../../../../protocols/soap/xml/parse.ts'
import { attribute, elements, textOf, type XmlElement } from '../../../../protocols/soap/xml/tree.ts'
import { FOREVER, jsonOf, plainCall } from '../../../helpers/adapter-bench.ts'
import type { Behaviour, Received } from '../../../helpers/scripted-upstream.ts'
import { type SoapBench, soapBench, SOAP12, wsdlOf } from '../soap-kit.ts'

const LARGE = Buffer.from(Array.from({ length: SOAP_MTOM_BYTES_MIN }, (_, i) => (i * 31) % 256)).toString('base64')
const SMALL = Buffer.from('small').toString('base64')
const XOP = 'http://www.w3.org/2004/08/xop/include'

const FILES = `<xs:import namespace="http://www.w3.org/2005/05/xmlmime"/><xs:import namespace="http://ws-i.org/profiles/basic/1.1/xsd" schemaLocation="http://ws-i.org/profiles/basic/1.1/swaref.xsd"/>
  <xs:element name="echo"><xs:complexType><xs:sequence>
    <xs:element name="file" type="xs:base64Binary" minOccurs="0" maxOccurs="unbounded"/>
    <xs:element name="photo" minOccurs="0"><xs:complexType><xs:simpleContent><xs:extension base="xs:base64Binary">
      <xs:attribute ref="xmime:contentType" xmlns:xmime="http://www.w3.org/2005/05/xmlmime"/></xs:extension></xs:simpleContent></xs:complexType></xs:element>
    <xs:element name="report" type="ref:swaRef" xmlns:ref="http://ws-i.org/profiles/basic/1.1/xsd" minOccurs="0"/>
    <xs:element name="note" type="xs:string" minOccurs="0"/>
  </xs:sequence></xs:complexType></xs:element>`
const ASSERTION =
  '<wsoma:OptimizedMimeSerialization xmlns:wsoma="http://schemas.xmlsoap.org/ws/2004/09/policy/optimizedmimeserialization"/>'
/** The binding requires the policy's assertion. */
const withPolicy = (content: string, soap: '1.1' | '1.2' = '1.1') =>
  wsdlOf({
    schema: FILES,
    soap,
    more: `<wsp:Policy xmlns:wsp="http://www.w3.org/ns/ws-policy" wsu:Id="P1" xmlns:wsu="http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd">${content}</wsp:Policy>`
  }).replace(/(<wsdl:binding [^>]*>)/, '$1<wsp:PolicyReference xmlns:wsp="http://www.w3.org/ns/ws-policy" URI="#P1"/>')

/** Returns the received message. */
const mirror: Behaviour = (response, { headers, body }) => {
  response.writeHead(200, { 'content-type': headers['content-type'] ?? '' }).end(body)
}

interface Part {
  readonly headers: Readonly<Record<string, string>>
  readonly bytes: Buffer
}

/** Parses parts strictly by RFC 2046, without the adapter's reader. */
function partsOf({ headers, body }: Received): { readonly type: string; readonly parts: readonly Part[] } {
  const type = headers['content-type'] ?? ''
  assert.match(type, /^multipart\/related; /)
  const boundary = /; boundary="([^"]+)"/.exec(type)?.[1] ?? assert.fail('no boundary')
  const text = body.toString('latin1')
  const pieces = `\r\n${text}`.split(`\r\n--${boundary}`)
  assert.equal(pieces.shift(), '')
  assert.equal(pieces.pop(), '--\r\n')
  const parts = pieces.map((piece) => {
    const end = piece.indexOf('\r\n\r\n')
    const lines = piece.slice(2, end).split('\r\n')
    const pairs = lines.map((line) => [line.split(': ', 1)[0]?.toLowerCase(), line.slice(line.indexOf(': ') + 2)])
    return {
      headers: Object.fromEntries(pairs) as Record<string, string>,
      bytes: Buffer.from(piece.slice(end + 4), 'latin1')
    }
  })
  const start = /; start="([^"]+)"/.exec(type)?.[1]
  assert.equal(parts[0]?.headers['content-id'], start)
  return { type, parts }
}

const last = (bench: SoapBench) => bench.upstream.received.at(-1) ?? assert.fail('nothing was sent')
const bodyOf = (part: Part | undefined): XmlElement => {
  const [content] = elements(elements(parseXml(part?.bytes.toString() ?? '')).at(-1) ?? assert.fail())
  return content ?? assert.fail('an empty body')
}
const mtomMapping = (mtom: boolean) => ({ version: 1, revision: 1, operations: { echo: { mtom } } })

describe('MTOM', () => {
  it('is used if the policy of the WSDL requires it', async () => {
    await using bench = await soapBench(withPolicy(ASSERTION), mirror)
    const call = { file: [LARGE, SMALL], photo: { contentType: 'image/png', value: LARGE }, note: 'x' }
    assert.deepEqual(await bench.json({ operation: 'echo', ...call }), call)
    const { type, parts } = partsOf(last(bench))
    assert.match(type, /; type="application\/xop\+xml"; start-info="text\/xml"; start="<[^>]+>"; /)
    assert.doesNotMatch(type, /action/)
    assert.equal(last(bench).headers.soapaction, '"urn:t#echo"')
    assert.equal(parts[0]?.headers['content-type'], 'application/xop+xml; charset=UTF-8; type="text/xml"')
    const types = parts.slice(1).map(({ headers }) => headers['content-type'])
    assert.deepEqual(types, ['application/octet-stream', 'image/png'])
    for (const { headers, bytes } of parts.slice(1)) {
      assert.equal(bytes.toString('base64'), LARGE)
      assert.equal(headers['content-transfer-encoding'], 'binary')
    }
    const [first, second, photo] = elements(bodyOf(parts[0]))
    for (const [element, part] of [
      [first, parts[1]],
      [photo, parts[2]]
    ] as const) {
      const [include] = elements(element ?? assert.fail(), XOP, 'Include')
      assert.equal(`<${attribute(include ?? assert.fail(), 'href')?.slice(4)}>`, part?.headers['content-id'])
    }
    assert.equal(textOf(second ?? assert.fail()), SMALL)
  })

  it('sets the action in the content type of SOAP 1.2', async () => {
    await using bench = await soapBench(withPolicy(ASSERTION, '1.2'), mirror)
    assert.deepEqual(await bench.json({ operation: 'echo', file: [LARGE] }), { file: [LARGE] })
    const { type, parts } = partsOf(last(bench))
    assert.match(type, /; type="application\/xop\+xml"; start-info="application\/soap\+xml"; .*; action="urn:t#echo"$/)
    assert.match(
      parts[0]?.headers['content-type'] ?? '',
      /^application\/xop\+xml; .*type="application\/soap\+xml"; action="urn:t#echo"$/
    )
    assert.equal(parseXml(parts[0]?.bytes.toString() ?? '').namespace, SOAP12)
  })

  it('wraps a message without binary content as well, because the policy applies to all', async () => {
    await using bench = await soapBench(withPolicy(ASSERTION), mirror)
    assert.deepEqual(await bench.json({ operation: 'echo', note: 'x' }), { file: [], note: 'x' })
    assert.equal(partsOf(last(bench)).parts.length, 1)
  })

  for (const [what, policy] of [
    ['optional', ASSERTION.replace('/>', ' wsp:Optional="true"/>')],
    ['one of two ways', `<wsp:ExactlyOne><wsp:All>${ASSERTION}</wsp:All><wsp:All/></wsp:ExactlyOne>`],
    ['nothing', '']
  ] as const) {
    it(`is not used if the policy makes it ${what}`, async () => {
      await using bench = await soapBench(withPolicy(policy), mirror)
      assert.deepEqual(await bench.json({ operation: 'echo', file: [LARGE] }), { file: [LARGE] })
      assert.match(last(bench).headers['content-type'] ?? '', /^text\/xml/)
    })
  }

  it("follows the provider's mapping", async () => {
    for (const mtom of [true, false]) {
      await using bench = await soapBench(withPolicy(mtom ? '' : ASSERTION), mirror)
      const { snapshot } =
        (await soapFactory.mapping?.with(bench.inspection.snapshot, mtomMapping(mtom))) ?? assert.fail()
      const adapter = soapFactory.open({ endpoint: `${bench.upstream.url}/svc` }, snapshot)
      const answer = await adapter.call(plainCall({ operation: 'echo', file: [LARGE] }), FOREVER)
      assert.deepEqual(await jsonOf(answer), { file: [LARGE] })
      assert.equal(last(bench).headers['content-type']?.startsWith('multipart/related'), mtom)
      await adapter.close?.()
    }
  })

  it('supports content that is translated in a thread', async () => {
    await using bench = await soapBench(withPolicy(ASSERTION), mirror)
    const file = [Buffer.alloc(SOAP_INLINE_BYTES_MAX, 'bytes').toString('base64')]
    assert.deepEqual(await bench.json({ operation: 'echo', file }), { file })
    assert.equal(partsOf(last(bench)).parts.length, 2)
  })

  it('leaves rules and errors unchanged', async () => {
    await using bench = await soapBench(withPolicy(ASSERTION), mirror)
    await assert.rejects(bench.json({ operation: 'echo', file: [LARGE, `${LARGE}!`] }), {
      code: 'invalid_request',
      message: /^\$\.file\[1\] must be a string in base64/
    })
    // An invalid type stays in its attribute, and cannot end a header.
    const photo = { contentType: 'image/png\r\nx-evil: 1', value: LARGE }
    await bench.json({ operation: 'echo', photo })
    assert.equal(partsOf(last(bench)).parts[1]?.headers['content-type'], 'application/octet-stream')
  })
})

const related = (content: string) =>
  `<mime:multipartRelated xmlns:mime="http://schemas.xmlsoap.org/wsdl/mime/"><mime:part><soap:body use="literal" namespace="urn:rpc"/></mime:part>${content}</mime:multipartRelated>`
const contents = `<mime:part><mime:content part="photo" type="image/png"/><mime:content part="photo" type="image/jpeg"/></mime:part><mime:part><mime:content part="name" type="text/*"/></mime:part>`
/** An operation whose message has `name` in the body, and the attachments `photo` and another `name`. */
const SWA = wsdlOf({
  schema:
    '<xs:element name="send"><xs:complexType><xs:sequence><xs:element name="name" type="xs:string"/></xs:sequence></xs:complexType></xs:element>',
  rest: `<wsdl:message name="in"><wsdl:part name="body" element="t:send"/><wsdl:part name="photo" type="xs:base64Binary"/><wsdl:part name="name" type="xs:string"/></wsdl:message>
    <wsdl:portType name="P"><wsdl:operation name="send"><wsdl:input message="t:in"/><wsdl:output message="t:in"/></wsdl:operation></wsdl:portType>
    <wsdl:binding name="B" type="t:P"><soap:binding transport="http://schemas.xmlsoap.org/soap/http"/>
      <wsdl:operation name="send"><soap:operation soapAction="urn:send"/><wsdl:input>${related(contents)}</wsdl:input><wsdl:output>${related(contents)}</wsdl:output></wsdl:operation></wsdl:binding>
    <wsdl:service name="S"><wsdl:port name="Q" binding="t:B"><soap:address location="/svc"/></wsdl:port></wsdl:service>`
})
const PHOTO = { contentType: 'image/jpeg', content: LARGE }
const TEXT = { contentType: 'text/plain; charset=utf-8', content: SMALL }

describe('SOAP with Attachments', () => {
  it('sends and reads the attachments of the WSDL', async () => {
    await using bench = await soapBench(SWA, mirror)
    const call = { name: 'n', photo: PHOTO, $name: TEXT }
    assert.deepEqual(await bench.json({ operation: 'send', ...call }), call)
    const { type, parts } = partsOf(last(bench))
    assert.match(type, /^multipart\/related; type="text\/xml"; start="<[^>]+>"; boundary="[^"]+"$/)
    assert.equal(parts[0]?.headers['content-type'], 'text/xml; charset=UTF-8')
    assert.deepEqual(
      elements(bodyOf(parts[0])).map(({ name }) => name),
      ['name']
    )
    const seen = parts.slice(1).map(({ headers, bytes }) => ({
      type: headers['content-type'],
      id: headers['content-id']?.replace(/=.*/, ''),
      content: bytes.toString('base64')
    }))
    assert.deepEqual(seen, [
      { type: 'image/jpeg', id: '<photo', content: LARGE },
      { type: 'text/plain; charset=utf-8', id: '<name', content: SMALL }
    ])
  })

  it('renames, hides and fills in attachments by a mapping, like fields', async () => {
    await using bench = await soapBench(SWA, mirror)
    const input = { photo: { rename: 'picture' }, $name: { value: TEXT } }
    const output = { photo: { rename: 'picture' }, $name: { hide: true } }
    const mapping = { version: 1, revision: 1, operations: { send: { input, output } } }
    const { snapshot, description } =
      (await soapFactory.mapping?.with(bench.inspection.snapshot, mapping)) ?? assert.fail()
    const adapter = soapFactory.open({ endpoint: `${bench.upstream.url}/svc?wsdl` }, snapshot)
    const call = async (body: object) => jsonOf(await adapter.call(plainCall({ operation: 'send', ...body }), FOREVER))
    assert.deepEqual(await call({ name: 'n', picture: PHOTO }), { name: 'n', picture: PHOTO })
    const ids = partsOf(last(bench))
      .parts.slice(1)
      .map(({ headers }) => headers['content-id']?.replace(/=.*/, ''))
    assert.deepEqual(ids, ['<photo', '<name'])
    await assert.rejects(call({ name: 'n', picture: PHOTO, photo: PHOTO }), {
      code: 'invalid_request',
      members: { path: '$.photo' }
    })
    await assert.rejects(call({ name: 'n' }), { code: 'invalid_request', members: { path: '$.picture' } })
    const schemas = [description.operations[0]?.input, description.operations[0]?.output]
    for (const schema of schemas) {
      assert.deepEqual(
        Object.keys(schema?.['properties'] as object).filter((name) => name !== 'operation'),
        ['name', 'picture']
      )
    }
    assert.deepEqual(schemas[0]?.['required'], ['operation', 'name', 'picture'])
    await adapter.close?.()
  })

  it('rejects an invalid mapping, and lists the attachments', async () => {
    await using bench = await soapBench(SWA, mirror)
    for (const [rules, problem] of [
      [{ photo: { rename: 'name' } }, /Another field is called name/],
      [{ name: { rename: 'photo' } }, /Another field is called photo/],
      [{ photo: { hide: true } }, /hidden field needs a value/],
      [{ photo: { maxLength: 3 } }, /need a field with a simple value/],
      [{ 'photo/content': { rename: 'x' } }, /no field photo\/content/],
      [{ image: { rename: 'x' } }, /There are: name, photo, \$name/]
    ] as const) {
      const mapping = { version: 1, revision: 1, operations: { send: { input: rules } } }
      await assert.rejects(async () => soapFactory.mapping?.with(bench.inspection.snapshot, mapping), problem)
    }
  })

  it('accepts plain base64, with the first declared type', async () => {
    await using bench = await soapBench(SWA, mirror)
    await bench.json({ operation: 'send', name: 'n', photo: SMALL, $name: SMALL })
    const types = partsOf(last(bench))
      .parts.slice(1)
      .map(({ headers }) => headers['content-type'])
    assert.deepEqual(types, ['image/png', 'application/octet-stream'])
  })

  it('is in the published schema', async () => {
    await using bench = await soapBench(SWA)
    const [operation] = bench.inspection.description.operations
    const input = operation?.input as { properties: Record<string, { type: unknown }>; required: string[] }
    assert.deepEqual(Object.keys(input.properties), ['operation', 'name', 'photo', '$name'])
    assert.deepEqual(input.required, ['operation', 'name', 'photo', '$name'])
    const output = operation?.output as typeof input
    assert.deepEqual(output.required, ['name'])
  })

  const bad: ReadonlyArray<readonly [what: string, photo: unknown, message: RegExp]> = [
    ['nothing', undefined, /^\$\.photo is required/],
    ['text', 'not base64', /^\$\.photo must be base64, or an object/],
    ['a number', 7, /^\$\.photo must be base64/],
    ['another field', { ...PHOTO, name: 'x' }, /^\$\.photo\.name is not known here/],
    [
      'another type',
      { ...PHOTO, contentType: 'image/gif' },
      /^\$\.photo\.contentType must be one of image\/png, image\/jpeg/
    ],
    ['no type', { ...PHOTO, contentType: 'image' }, /^\$\.photo\.contentType must be a media type/],
    ['a header', { ...PHOTO, contentType: 'image/png\r\nx: y' }, /^\$\.photo\.contentType must be a media type/]
  ]
  for (const [what, photo, message] of bad) {
    it(`rejects ${what}`, async () => {
      await using bench = await soapBench(SWA, mirror)
      const call = bench.json({ operation: 'send', name: 'n', photo, $name: SMALL })
      await assert.rejects(call, { code: 'invalid_request', message })
      assert.equal(bench.upstream.received.filter(({ method }) => method === 'POST').length, 0)
    })
  }

  it('reads parts without such ids in order, and tolerates missing parts', async () => {
    const answering =
      (ids: readonly string[]): Behaviour =>
      (response) => {
        const root = `--b\r\nContent-Type: text/xml\r\n\r\n<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body><t:send xmlns:t="urn:t"><t:name>n</t:name></t:send></e:Body></e:Envelope>\r\n`
        const parts = ids.map((id) => `--b\r\nContent-Type: image/png\r\n${id}\r\n\r\nsmall\r\n`)
        response
          .writeHead(200, { 'content-type': 'multipart/related; boundary=b' })
          .end(`${root}${parts.join('')}--b--`)
      }
    const png = { contentType: 'image/png', content: SMALL }
    for (const [ids, expected] of [
      [['Content-ID: <1>', 'X: y'], { name: 'n', photo: png, $name: png }],
      [['Content-ID: <name=1@x>'], { name: 'n', $name: png }],
      [[], { name: 'n' }]
    ] as const) {
      await using bench = await soapBench(SWA, answering(ids))
      assert.deepEqual(await bench.json({ operation: 'send', name: 'n', photo: SMALL, $name: SMALL }), expected)
    }
  })

  it('puts the target of swaRef in its place', async () => {
    await using bench = await soapBench(wsdlOf({ schema: FILES }), mirror)
    assert.deepEqual(bench.inspection.warnings, [])
    const call = { file: [], report: { contentType: 'application/pdf', content: SMALL } }
    assert.deepEqual(await bench.json({ operation: 'echo', ...call }), call)
    const { type, parts } = partsOf(last(bench))
    assert.match(type, /; type="text\/xml"; /)
    const [report] = elements(bodyOf(parts[0]), 'urn:t', 'report')
    assert.equal(`<${textOf(report ?? assert.fail()).slice(4)}>`, parts[1]?.headers['content-id'])
    assert.equal(parts[1]?.headers['content-type'], 'application/pdf')
  })

  it('is upstream_invalid_response if swaRef has no target', async () => {
    const body = '<t:echo xmlns:t="urn:t"><t:report>cid:gone</t:report></t:echo>'
    const envelope = `<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body>${body}</e:Body></e:Envelope>`
    await using bench = await soapBench(wsdlOf({ schema: FILES }), (response) => {
      response.writeHead(200, { 'content-type': 'text/xml' }).end(envelope)
    })
    await assert.rejects(bench.json({ operation: 'echo' }), { code: 'upstream_invalid_response' })
  })
})
