import assert from 'node:assert/strict'
import { SOAP_INLINE_BYTES_MAX } from '../../../../lib/base/limits/soap.ts'
import type { UpstreamAuth } from '../../../../lib/interface/adapter.ts'
import { soapFactory } from '../../../../protocols/soap/soap-factory.ts'
import { WSSE } from '../../../../protocols/soap/message/username-token.ts'
import { parseXml } from '../../../../protocols/soap/xml/parse.ts'
import { elements, firstElement, type XmlElement } from '../../../../protocols/soap/xml/tree.ts'
import { answering } from '../../../helpers/scripted-upstream.ts'
import { assertXml, type SoapBench, soapBench, wsdlOf, XML } from '../soap-kit.ts'

const ENVELOPE = 'http://schemas.xmlsoap.org/soap/envelope/'
const SECRET = 'k3y-s3cret<&>'
const operation = (name: string) =>
  `<wsdl:operation name="${name}"><wsdl:input message="t:in"/><wsdl:output message="t:out"/></wsdl:operation>`
const bound = (name: string, input = '', output = '') =>
  `<wsdl:operation name="${name}"><soap:operation soapAction="${name}"/>
    <wsdl:input>${input}<soap:body parts="body" use="literal"/></wsdl:input><wsdl:output>${output}<soap:body use="literal"/></wsdl:output></wsdl:operation>`
const header = (part: string) => `<soap:header message="t:heads" part="${part}" use="literal"/>`
/** `get` declares Auth, Trace and Security, `plain` none. */
const WSDL = wsdlOf({
  types: `<xs:schema targetNamespace="urn:t" elementFormDefault="qualified">
      <xs:element name="get" type="xs:string"/><xs:element name="Trace" type="xs:string"/>
      <xs:element name="Auth"><xs:complexType><xs:sequence><xs:element name="key" type="xs:string"/><xs:element name="level" type="xs:int" minOccurs="0"/></xs:sequence></xs:complexType></xs:element></xs:schema>
    <xs:schema targetNamespace="${WSSE}"><xs:element name="Security"><xs:complexType><xs:sequence><xs:any minOccurs="0"/></xs:sequence></xs:complexType></xs:element></xs:schema>`,
  rest: `<wsdl:message name="in"><wsdl:part name="body" element="t:get"/></wsdl:message><wsdl:message name="out"><wsdl:part name="body" element="t:get"/></wsdl:message>
    <wsdl:message name="heads"><wsdl:part name="auth" element="t:Auth"/><wsdl:part name="trace" element="t:Trace"/><wsdl:part name="security" element="w:Security" xmlns:w="${WSSE}"/></wsdl:message>
    <wsdl:portType name="P">${operation('get')}${operation('plain')}</wsdl:portType>
    <wsdl:binding name="B" type="t:P"><soap:binding transport="http://schemas.xmlsoap.org/soap/http"/>
      ${bound('get', header('auth') + header('trace') + header('security'), header('auth'))}${bound('plain')}</wsdl:binding>
    <wsdl:service name="S"><wsdl:port name="Q" binding="t:B"><soap:address location="/svc"/></wsdl:port></wsdl:service>`
})

/** The header blocks of the last envelope. */
function blocks(bench: SoapBench): XmlElement[] {
  const root = parseXml(bench.upstream.received.at(-1)?.body.toString() ?? '')
  const found = firstElement(root, ENVELOPE, 'Header')
  return found === undefined ? [] : elements(found)
}

function headersIn(bench: SoapBench, name: string, side: 'input' | 'output'): string[] {
  const schema = bench.inspection.description.operations.find((one) => one.name === name)?.[side]
  const { $headers } = JSON.parse(JSON.stringify(schema?.['properties'] ?? {})) as { $headers?: { properties: object } }
  return Object.keys($headers?.properties ?? {})
}

describe('SOAP headers of the provider', () => {
  const auth: UpstreamAuth = { soapHeaders: { Auth: { level: 3, key: SECRET } } }
  const escaped = SECRET.replace('&', '&amp;').replace('<', '&lt;')

  it('are sent with every request of an operation that declares them, in schema order', async () => {
    await using bench = await soapBench(WSDL, undefined, { auth })
    for (const get of ['a', 'a'.repeat(SOAP_INLINE_BYTES_MAX)]) {
      await bench.call({ operation: 'get', get, $headers: { Trace: 't' } })
      const [own, consumers, ...more] = blocks(bench)
      assertXml(own, `<t:Auth><t:key>${escaped}</t:key><t:level>3</t:level></t:Auth>`)
      assertXml(consumers, '<t:Trace>t</t:Trace>')
      assert.equal(more.length, 0)
    }
    await bench.call({ operation: 'plain', get: 'a' })
    assert.deepEqual(blocks(bench), [])
    assert.doesNotMatch(bench.upstream.received.at(-1)?.body.toString() ?? '', /Header/)
  })

  it('are sent with all operations by their full names, even without a schema', async () => {
    const soapHeaders = {
      '{urn:t}Auth': { key: SECRET },
      '{urn:x}Key': SECRET,
      '{urn:x}Deep': { '@id': '7', $any: [{ '{urn:x}in': 'x' }] }
    }
    await using bench = await soapBench(WSDL, undefined, { auth: { soapHeaders } })
    for (const name of ['get', 'plain']) {
      await bench.call({ operation: name, get: 'a' })
      const [declared, open, deep, ...more] = blocks(bench)
      assertXml(declared, `<t:Auth><t:key>${escaped}</t:key></t:Auth>`)
      assertXml(open, `<x:Key xmlns:x="urn:x">${escaped}</x:Key>`)
      assertXml(deep, '<x:Deep xmlns:x="urn:x" id="7"><x:in>x</x:in></x:Deep>')
      assert.equal(more.length, 0)
    }
    assert.deepEqual(headersIn(bench, 'get', 'input'), ['Trace', 'Security'])
  })

  it('are neither shown to consumers nor accepted from them', async () => {
    await using bench = await soapBench(WSDL, undefined, { auth })
    assert.deepEqual(headersIn(bench, 'get', 'input'), ['Trace', 'Security'])
    assert.deepEqual(headersIn(bench, 'get', 'output'), [])
    const { snapshot, description } = bench.inspection
    assert.doesNotMatch(snapshot + JSON.stringify(description), /s3cret/)
    for (const large of ['', 'a'.repeat(SOAP_INLINE_BYTES_MAX)]) {
      await assert.rejects(bench.call({ operation: 'get', get: large, $headers: { Auth: { key: 'mine' } } }), {
        code: 'invalid_request',
        message: '$.$headers.Auth is not known here; known: Trace, Security.'
      })
    }
    assert.equal(bench.upstream.received.filter(({ method }) => method === 'POST').length, 0)
    // A mapping describes the API again.
    const mapping = { version: 1, revision: 1, operations: { get: { input: { get: { rename: 'it' } } } } }
    const mapped = await soapFactory.mapping?.with(snapshot, mapping)
    assert.doesNotMatch(JSON.stringify(mapped?.description), /Auth/)
    const taken = { version: 1, revision: 2, operations: { get: { input: { '$headers/Auth/key': { value: 'x' } } } } }
    assert.deepEqual(await soapFactory.mapping?.check(mapped?.snapshot ?? '', taken), [
      {
        at: '/operations/get/input/$headers~1Auth~1key',
        problem: 'The credentials of the registration set Auth (soap_headers), so a mapping cannot.'
      }
    ])
  })

  it('are redacted when the service repeats them', async () => {
    const echo = `<e:Envelope xmlns:e="${ENVELOPE}"><e:Header><Auth xmlns="urn:t"><key>${escaped}</key></Auth></e:Header><e:Body><get xmlns="urn:t">x</get></e:Body></e:Envelope>`
    await using bench = await soapBench(WSDL, answering(200, { ...XML, etag: `"${SECRET}"` }, echo), { auth })
    const answer = await bench.call({ operation: 'get', get: 'a' })
    assert.equal(Buffer.from(answer.body as Uint8Array).toString(), '{"get":"x"}')
    const fault = `<e:Envelope xmlns:e="${ENVELOPE}"><e:Body><e:Fault><faultcode>e:Client</faultcode><faultstring>The key ${escaped} is no key, nor is pass-w0rd.</faultstring>
      <detail><given xmlns=""><key>${escaped}</key></given></detail></e:Fault></e:Body></e:Envelope>`
    for (const [status, pad] of [
      [200, ''],
      [500, `<!--${'x'.repeat(SOAP_INLINE_BYTES_MAX)}-->`]
    ] as const) {
      const both = { ...auth, usernameToken: { username: 'ann', password: 'pass-w0rd' } }
      await using faulty = await soapBench(WSDL, answering(status, XML, fault + pad), { auth: both })
      await assert.rejects(faulty.call({ operation: 'get', get: 'a' }), {
        code: 'soap_fault',
        members: {
          fault: { code: 'Client', reason: 'The key … is no key, nor is ….', detail: { given: { key: '…' } } }
        }
      })
    }
  })

  it('exclude the Security block if a UsernameToken is used', async () => {
    const usernameToken = { username: 'ann', password: SECRET }
    await using bench = await soapBench(WSDL, undefined, { auth: { usernameToken } })
    assert.deepEqual(headersIn(bench, 'get', 'input'), ['Auth', 'Trace'])
    await assert.rejects(bench.call({ operation: 'get', get: 'a', $headers: { Security: {} } }), /is not known here/)
    await bench.call({ operation: 'get', get: 'a' })
    assert.deepEqual(
      blocks(bench).map(({ name }) => name),
      ['Security']
    )
  })

  describe('are checked at registration, without revealing a value', () => {
    const wrong: ReadonlyArray<readonly [soapHeaders: Record<string, unknown>, says: RegExp]> = [
      [{ Auth: {} }, /^\$\.soap_headers\.Auth\.key is required\.$/],
      [{ Auth: { key: SECRET, level: SECRET } }, /^\$\.soap_headers\.Auth\.level must be an integer[^;]*\.$/],
      [{ Auth: { key: SECRET, password: SECRET } }, /^\$\.soap_headers\.Auth\.password is not known here/],
      [{ Auth: SECRET }, /^\$\.soap_headers\.Auth must be an object\.$/],
      [{ Auth: null }, /^\$\.soap_headers\.Auth must not be null/],
      [
        { Other: SECRET },
        /^\$\.soap_headers\.Other is not a declared header block.*Declared: Auth, Trace, Security\. .*\{namespace\}name/
      ],
      [{ '{urn:x}a b': SECRET }, /must be named as an XML element can be/],
      [{ '{urn:x}Key': { x: SECRET } }, /open content is written with \$any, value and @names\.$/],
      [{ '{urn:x}Key': `${SECRET}\u0000` }, /control character/]
    ]
    for (const [soapHeaders, says] of wrong) {
      it(`${Object.keys(soapHeaders).join()}: ${says.source.slice(0, 60)}`, async () => {
        await assert.rejects(soapBench(WSDL, undefined, { auth: { soapHeaders } }), (error: Error) => {
          assert.match(error.message, says)
          assert.doesNotMatch(JSON.stringify(error) + error.message + error.stack, /s3cret/)
          return true
        })
      })
    }

    it('one Security header, not two', async () => {
      const usernameToken = { username: 'ann', password: SECRET }
      const soapHeaders = { [`{${WSSE}}Security`]: {} }
      await assert.rejects(soapBench(WSDL, undefined, { auth: { soapHeaders, usernameToken } }), {
        code: 'invalid_request',
        message: /cannot be used together/
      })
    })
  })
})
