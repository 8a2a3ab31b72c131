import assert from 'node:assert/strict'
import { isSoukError, type SoukError } from '../../../lib/base/errors.ts'
import { FAULT_DETAIL_BYTES_MAX } from '../../../lib/base/limits/soap.ts'
import { soapFactory } from '../../../protocols/soap/soap-factory.ts'
import { adapterSuite } from '../../suites/adapter.ts'
import { FOREVER, jsonOf, plainCall, rejectsWith } from '../../helpers/adapter-bench.ts'
import { answering, type Behaviour } from '../../helpers/scripted-upstream.ts'
import { assertXml, envelope, rpc, type SoapBench, serving, SOAP12, soapBench, wsdlOf, XML } from './soap-kit.ts'

const SCHEMA = `
  <xs:element name="get"><xs:complexType><xs:sequence><xs:element name="id" type="xs:string"/></xs:sequence></xs:complexType></xs:element>
  <xs:element name="getResponse"><xs:complexType><xs:sequence><xs:element name="total" type="xs:decimal"/><xs:element name="note" type="xs:string" minOccurs="0"/></xs:sequence></xs:complexType></xs:element>
  <xs:element name="Missing"><xs:complexType><xs:sequence><xs:element name="id" type="xs:int"/><xs:element name="tried" type="xs:string" minOccurs="0" maxOccurs="unbounded"/></xs:sequence></xs:complexType></xs:element>
  <xs:element name="word" type="xs:string"/><xs:element name="size" type="xs:int"/>`
const OPERATIONS = { get: ['get', 'getResponse'], measure: ['word', 'size'], tell: ['get', undefined] } as const
const WSDL = wsdlOf({ schema: SCHEMA, operations: OPERATIONS })
const ANSWER = envelope('<getResponse xmlns="urn:t"><total>12.50</total></getResponse>')

adapterSuite({
  factory: soapFactory,
  endpointPath: '/svc?wsdl',
  inspectable: serving({ '/svc?wsdl': WSDL }),
  call: { operation: 'get', id: 'x' },
  answer: { headers: XML, body: ANSWER },
  reply: { total: 12.5 },
  huge: (bytes) => Buffer.from(ANSWER.replace('</total>', `</total><note>${'x'.repeat(bytes)}</note>`)),
  holdsResponses: true
})

describe('a SOAP call', () => {
  const opened: SoapBench[] = []
  afterEach(async () => {
    for (const bench of opened.splice(0)) await bench[Symbol.asyncDispose]()
  })
  const open = async (wsdl: string, answer?: Behaviour): Promise<SoapBench> => {
    const bench = await soapBench(wsdl, answer ?? answering(200, XML, ANSWER))
    opened.push(bench)
    return bench
  }
  const get = { operation: 'get', id: 'x' }

  it('posts SOAP 1.1 with its action', async () => {
    const { call, upstream, sent } = await open(WSDL)
    await call(get)
    const { method, target, headers } = upstream.received.at(-1) ?? assert.fail()
    assert.deepEqual([method, target], ['POST', '/svc'])
    assert.equal(headers['content-type'], 'text/xml; charset=utf-8')
    assert.equal(headers.soapaction, '"urn:t#get"')
    assertXml(sent()[0], '<t:get><t:id>x</t:id></t:get>')
  })

  for (const draft of ['1999', '2000/08', '2000/10']) {
    it(`supports a service that uses the XML Schema draft of ${draft}`, async () => {
      const wsdl = wsdlOf({
        types: `<schema targetNamespace="urn:t" xmlns="http://www.w3.org/${draft}/XMLSchema" xmlns:d="http://www.w3.org/${draft}/XMLSchema" elementFormDefault="qualified">
          <element name="get"><complexType><all><element name="symbol" type="string"/><element name="since" type="d:timeInstant"/></all></complexType></element>
          <element name="price"><complexType><all><element name="last" type="d:float"/><element name="tax" type="d:float" nillable="true"/></all></complexType></element>
        </schema>`,
        operations: { get: ['get', 'price'] }
      })
      const nil = `xmlns:xsi="http://www.w3.org/${draft}/XMLSchema-instance" xsi:null="1"`
      const answer = envelope(`<price xmlns="urn:t"><last>1.5</last><tax ${nil}/></price>`)
      const { call, json, sent } = await open(wsdl, answering(200, XML, answer))
      const quote = { operation: 'get', since: '2000-10-24T12:00:00Z', symbol: 'MSFT' }
      assert.deepEqual(await json(quote), { last: 1.5, tax: null })
      assertXml(sent()[0], '<t:get><t:symbol>MSFT</t:symbol><t:since>2000-10-24T12:00:00Z</t:since></t:get>')
      await rejectsWith(call({ ...quote, since: 'noon' }), 'invalid_request')
    })
  }

  it('recognises a built-in type without its prefix', async () => {
    const wsdl = wsdlOf({
      schema:
        '<xs:element name="echo"><xs:complexType><xs:sequence><xs:element name="n" type="int"/></xs:sequence></xs:complexType></xs:element>'
    })
    const { call, json } = await open(wsdl, answering(200, XML, envelope('<echo xmlns="urn:t"><n>7</n></echo>')))
    assert.deepEqual(await json({ operation: 'echo', n: 7 }), { n: 7 })
    await rejectsWith(call({ operation: 'echo', n: 'seven' }), 'invalid_request')
  })

  it('posts SOAP 1.2 with its action', async () => {
    const answer = answering(
      200,
      { 'content-type': 'application/soap+xml' },
      envelope('<getResponse xmlns="urn:t"><total>1</total></getResponse>', SOAP12)
    )
    const { json, upstream } = await open(wsdlOf({ schema: SCHEMA, operations: OPERATIONS, soap: '1.2' }), answer)
    assert.deepEqual(await json(get), { total: 1 })
    const { headers, body } = upstream.received.at(-1) ?? assert.fail()
    assert.equal(headers['content-type'], 'application/soap+xml; charset=utf-8; action="urn:t#get"')
    assert.equal(headers.soapaction, undefined)
    assert(body.includes(`xmlns:soap="${SOAP12}"`))
  })

  it('names the value of a bare message with one text', async () => {
    const { json, sent } = await open(WSDL, answering(200, XML, envelope('<size xmlns="urn:t">4</size>')))
    assert.deepEqual(await json({ operation: 'measure', word: 'word' }), { size: 4 })
    assertXml(sent()[0], '<t:word>word</t:word>')
  })

  it('responds to a one-way operation with an empty object', async () => {
    for (const status of [200, 202, 204]) {
      for (const headers of [{}, { 'content-type': 'text/html; charset=UTF-8' }]) {
        const { json } = await open(WSDL, answering(status, headers, ''))
        assert.deepEqual(await json({ operation: 'tell', id: 'x' }), {})
      }
    }
  })

  it('keeps the digits of a number that a double cannot hold', async () => {
    const schema =
      '<xs:element name="echo"><xs:complexType><xs:sequence><xs:element name="l" type="xs:long"/><xs:element name="d" type="xs:decimal"/></xs:sequence></xs:complexType></xs:element>'
    await using bench = await soapBench(wsdlOf({ schema }))
    const body = Buffer.from('{"operation":"echo","l":9007199254740993,"d":0.12345678901234567890}')
    const reply = await bench.adapter.call(plainCall(body), FOREVER)
    assert.deepEqual(await jsonOf(reply), { l: '9007199254740993', d: '0.12345678901234567890' })
  })

  it('accepts a parameter called operation as $operation', async () => {
    const schema =
      '<xs:element name="echo"><xs:complexType><xs:sequence><xs:element name="operation" type="xs:string"/></xs:sequence></xs:complexType></xs:element>'
    await using bench = await soapBench(wsdlOf({ schema }))
    const { json, inspection } = bench
    assert.deepEqual(await json({ operation: 'echo', $operation: 'add' }), { operation: 'add' })
    assert.deepEqual(inspection.description.operations[0]?.input?.required, ['operation', '$operation'])
  })

  it("supports rpc/literal: parts without a namespace, in the binding's wrapper", async () => {
    const { json, sent } = await open(
      rpc('literal'),
      answering(
        200,
        XML,
        envelope('<x:whatever xmlns:x="urn:rpc"><sum>7</sum><parts><n>3</n><n>4</n></parts></x:whatever>')
      )
    )
    assert.deepEqual(await json({ operation: 'add', b: 4, a: 3 }), { sum: 7, parts: { n: [3, 4] } })
    assertXml(sent()[0], '<r:add xmlns:r="urn:rpc"><a>3</a><b>4</b></r:add>')
  })

  it("calls the WSDL's own origin, whatever host the WSDL names, with a warning", async () => {
    const { json, upstream, inspection } = await open(
      wsdlOf({ schema: SCHEMA, operations: OPERATIONS, address: 'http://internal.example:80/deep/path?x=1' })
    )
    assert.deepEqual(await json(get), { total: 12.5 })
    assert.equal(upstream.received.at(-1)?.target, '/deep/path?x=1')
    assert.match(inspection.warnings.join(), /internal\.example.*is called/)
  })

  it('opens from its snapshot without the network', async () => {
    const { inspection, upstream } = await open(WSDL)
    const seen = upstream.received.length
    const endpoint = `${upstream.url}/svc?wsdl`
    const adapter = soapFactory.open({ endpoint }, inspection.snapshot)
    assert.equal(upstream.received.length, seen)
    assert.deepEqual(await jsonOf(await adapter.call(plainCall(get), FOREVER)), { total: 12.5 })
    await adapter.close?.()
    for (const snapshot of ['', '{}', 'null', '{"version":9}']) {
      assert.throws(() => soapFactory.open({ endpoint }, snapshot), { code: 'invalid_request' })
    }
  })

  describe('with a fault as response', () => {
    const faulted = async (body: string, status = 500, wsdl = withFault): Promise<SoukError> => {
      const { json } = await open(wsdl, answering(status, XML, body))
      try {
        await json(get)
      } catch (error) {
        assert(isSoukError(error), String(error))
        return error
      } finally {
      }
      return assert.fail('no fault')
    }

    it('is a client error for a Client fault, with its declared detail typed', async () => {
      const detail = '<detail><Missing xmlns="urn:t"><id>5</id><tried>a</tried></Missing></detail>'
      const error = await faulted(fault11('Client', 'No such id', detail))
      assert.deepEqual([error.code, error.status, error.source], ['soap_fault', 400, 'upstream'])
      assert.deepEqual(error.members, {
        fault: { code: 'Client', reason: 'No such id', detail: { Missing: { id: 5, tried: ['a'] } } }
      })
    })

    it('is 502 for a Server fault, even with HTTP 200', async () => {
      const error = await faulted(fault11('Server', 'Out of order', '<faultactor>urn:a</faultactor>'), 200)
      assert.equal(error.status, 502)
      assert.deepEqual(error.members, { fault: { code: 'Server', reason: 'Out of order', actor: 'urn:a' } })
    })

    it('reads a SOAP 1.2 fault', async () => {
      const body = envelope(
        `<e:Fault><e:Code><e:Value>e:Sender</e:Value><e:Subcode><e:Value xmlns:m="urn:m">m:Bad</e:Value></e:Subcode></e:Code>
         <e:Reason><e:Text xml:lang="en">Bad id</e:Text></e:Reason><e:Role>urn:r</e:Role>
         <e:Detail><x a="1"><y>1</y><y>2</y></x></e:Detail></e:Fault>`,
        SOAP12
      )
      const error = await faulted(body, 400)
      assert.equal(error.status, 400)
      assert.deepEqual(error.members, {
        fault: {
          code: 'Sender',
          subcode: 'Bad',
          reason: 'Bad id',
          actor: 'urn:r',
          detail: { x: { '@a': '1', y: ['1', '2'] } }
        }
      })
    })

    it('truncates a huge detail in the error', async () => {
      const detail = `<detail><x>${'y'.repeat(FAULT_DETAIL_BYTES_MAX)}</x></detail>`
      const error = await faulted(fault11('Server', 'z'.repeat(1_000_000), detail))
      assert(JSON.stringify(error.members).length < 3 * FAULT_DETAIL_BYTES_MAX)
    })

    it("shows the service's text only in the fault", async () => {
      const error = await faulted(fault11('Server', 'at com.example.Service(Service.java:7)', ''))
      assert.doesNotMatch(error.message, /java/)
    })
  })

  const unreadable: ReadonlyArray<readonly [what: string, type: string, body: string]> = [
    ['an HTML page', 'text/html', '<html><body>Welcome</body></html>'],
    ['an HTML page that says it is XML', 'text/xml', '<!DOCTYPE html><html><body>Welcome</body></html>'],
    ['JSON', 'application/json', '{}'],
    ['nothing', 'text/xml', ''],
    ['plain text', 'text/xml', 'OK'],
    ['XML that is no envelope', 'text/xml', '<ok/>'],
    ['an envelope of another version', 'text/xml', envelope('<x/>', 'urn:soap:13')],
    ['an envelope without a body', 'text/xml', '<Envelope xmlns="http://schemas.xmlsoap.org/soap/envelope/"/>'],
    ['an empty body', 'text/xml', envelope('')],
    ['another element', 'text/xml', envelope('<other xmlns="urn:t"/>')],
    ['tags that do not match', 'text/xml', ANSWER.replace('</total>', '</totl>')],
    ['two roots', 'text/xml', `${ANSWER}<x/>`],
    ['an envelope that breaks off', 'text/xml', ANSWER.slice(0, -20)],
    [
      'a prefix that is not declared',
      'text/xml',
      ANSWER.replace('<total>', '<q:total>').replace('</total>', '</q:total>')
    ],
    ['an entity that is not declared', 'text/xml', ANSWER.replace('12.50', '&euro;')],
    [
      'an entity bomb',
      'text/xml',
      `<!DOCTYPE b [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>${ANSWER.replace('12.50', '&b;')}`
    ],
    ['nesting without a bottom', 'text/xml', envelope('<a>'.repeat(5_000) + '</a>'.repeat(5_000))],
    [
      'attributes without an end',
      'text/xml',
      envelope(`<a ${Array.from({ length: 50_000 }, (_, i) => `a${i}=">"`).join(' ')}/>`)
    ],
    ['characters that XML does not have', 'text/xml', ANSWER.replace('12.50', '\u0001')],
    ['bytes of another charset', 'text/xml; charset=utf-8', '\xff'],
    ['a charset that nobody knows', 'text/xml; charset=klingon', ANSWER]
  ]
  for (const [what, type, body] of unreadable) {
    it(`is upstream_invalid_response if the response is ${what}`, async () => {
      const bytes = Buffer.from(body, what.startsWith('bytes') ? 'latin1' : 'utf8')
      const { call } = await open(WSDL, answering(200, { 'content-type': type }, bytes))
      await rejectsWith(call(get), 'upstream_invalid_response')
    })
  }

  it('reads Latin-1 and UTF-16 as declared', async () => {
    const text = ANSWER.replace('</total>', '</total><note>Zürich</note>').replace('<?xml version="1.0"?>', '')
    const latin = Buffer.from(`<?xml version="1.0" encoding="ISO-8859-1"?>${text}`, 'latin1')
    const wide = Buffer.from(`\ufeff<?xml version="1.0" encoding="UTF-16"?>${text}`, 'utf16le')
    for (const bytes of [latin, wide]) {
      const { json } = await open(WSDL, answering(200, { 'content-type': 'text/xml' }, bytes))
      assert.deepEqual(await json(get), { total: 12.5, note: 'Zürich' })
    }
  })

  for (const type of ['text/html; charset=UTF-8', 'text/plain', 'application/octet-stream']) {
    it(`reads an envelope that is sent as ${type}`, async () => {
      const { json } = await open(WSDL, answering(200, { 'content-type': type }, ANSWER))
      assert.deepEqual(await json(get), { total: 12.5 })
      const fault = fault11('Client', 'no such order', '')
      const failing = await open(WSDL, answering(500, { 'content-type': type }, fault))
      await rejectsWith(failing.call(get), 'soap_fault')
    })
  }

  it('tolerates a slightly wrong response', async () => {
    const body = envelope(
      '<getResponse xmlns="urn:t"><total xmlns="">n/a</total><note>a</note><note>b</note><extra><x>1</x></extra></getResponse>'
    )
    const { json } = await open(WSDL, answering(200, XML, body))
    assert.deepEqual(await json(get), {
      total: 'n/a',
      note: ['a', 'b'],
      $any: [{ '{urn:t}extra': { $any: [{ '{urn:t}x': '1' }] } }]
    })
  })
})

const withFault = WSDL.replace(
  '<wsdl:output message="t:getResponse"/>',
  '<wsdl:output message="t:getResponse"/><wsdl:fault name="f" message="t:Missing"/>'
).replace(
  '<wsdl:portType',
  '<wsdl:message name="Missing"><wsdl:part name="f" element="t:Missing"/></wsdl:message><wsdl:portType'
)

function fault11(code: string, text: string, more: string): string {
  return envelope(`<e:Fault><faultcode>e:${code}</faultcode><faultstring>${text}</faultstring>${more}</e:Fault>`)
}
