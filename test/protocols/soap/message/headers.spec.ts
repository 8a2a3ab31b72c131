import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { SOAP_INLINE_BYTES_MAX } from '../../../../lib/base/limits/soap.ts'
import { answering } from '../../../helpers/scripted-upstream.ts'
import { elements, firstElement, textOf } from '../../../../protocols/soap/xml/tree.ts'
import { parseXml } from '../../../../protocols/soap/xml/parse.ts'
import { assertXml, soapBench, wsdlOf, XML } from '../soap-kit.ts'

const ENVELOPE = 'http://schemas.xmlsoap.org/soap/envelope/'
const WSDL = wsdlOf({
  schema: `<xs:element name="get" type="xs:string"/><xs:element name="Auth"><xs:complexType><xs:sequence><xs:element name="user" type="xs:string"/><xs:element name="level" type="xs:int" minOccurs="0"/></xs:sequence></xs:complexType></xs:element>
    <xs:element name="Quota"><xs:complexType><xs:sequence><xs:element name="left" type="xs:int"/></xs:sequence></xs:complexType></xs:element>`,
  rest: `<wsdl:message name="in"><wsdl:part name="body" element="t:get"/><wsdl:part name="auth" element="t:Auth"/></wsdl:message>
    <wsdl:message name="out"><wsdl:part name="body" element="t:get"/></wsdl:message>
    <wsdl:message name="quota"><wsdl:part name="quota" element="t:Quota"/></wsdl:message>
    <wsdl:portType name="P"><wsdl:operation name="get"><wsdl:input message="t:in"/><wsdl:output message="t:out"/></wsdl:operation></wsdl:portType>
    <wsdl:binding name="B" type="t:P"><soap:binding transport="http://schemas.xmlsoap.org/soap/http"/><wsdl:operation name="get"><soap:operation soapAction="g"/>
      <wsdl:input><soap:header message="t:in" part="auth" use="literal"/><soap:body use="literal"/></wsdl:input>
      <wsdl:output><soap:header message="t:quota" part="quota" use="literal"/><soap:body use="literal"/></wsdl:output></wsdl:operation></wsdl:binding>
    <wsdl:service name="S"><wsdl:port name="Q" binding="t:B"><soap:address location="/svc"/></wsdl:port></wsdl:service>`
})
const answer = (header: string) =>
  answering(
    200,
    XML,
    `<e:Envelope xmlns:e="${ENVELOPE}"><e:Header>${header}</e:Header><e:Body><get xmlns="urn:t">x</get></e:Body></e:Envelope>`
  )

describe('SOAP headers', () => {
  it('sends a declared block, which is not part of the body', async () => {
    await using bench = await soapBench(WSDL)
    await bench.call({ operation: 'get', get: 'a', $headers: { Auth: { level: 3, user: 'u' } } })
    const root = parseXml(bench.upstream.received.at(-1)?.body.toString() ?? '')
    const header = firstElement(root, ENVELOPE, 'Header')
    assertXml(header && firstElement(header), '<t:Auth><t:user>u</t:user><t:level>3</t:level></t:Auth>')
    assertXml(bench.sent()[0], '<t:get>a</t:get>')
  })

  it('omits blocks that are not given', async () => {
    await using bench = await soapBench(WSDL)
    for (const headers of [undefined, {}, { Auth: null }]) {
      await bench.call({ operation: 'get', get: 'a', $headers: headers })
      assert.doesNotMatch(bench.upstream.received.at(-1)?.body.toString() ?? '', /Header/)
    }
  })

  it('returns the declared blocks of a response, and no others', async () => {
    const blocks = '<Quota xmlns="urn:t"><left>7</left></Quota><w:Security xmlns:w="urn:wsse"><w:secret/></w:Security>'
    await using bench = await soapBench(WSDL, answer(blocks))
    assert.deepEqual(await bench.json({ operation: 'get', get: 'a' }), { get: 'x', $headers: { Quota: { left: 7 } } })
    await using without = await soapBench(WSDL, answer(''))
    assert.deepEqual(await without.json({ operation: 'get', get: 'a' }), { get: 'x' })
  })

  it('rejects an undeclared or invalid block before anything is sent', async () => {
    await using bench = await soapBench(WSDL)
    const refused = (headers: unknown, message: RegExp) =>
      assert.rejects(bench.call({ operation: 'get', get: 'a', $headers: headers }), {
        code: 'invalid_request',
        message
      })
    await refused({ Other: {} }, /^\$\.\$headers\.Other is not known here; known: Auth/)
    await refused({ Auth: {} }, /^\$\.\$headers\.Auth\.user is required/)
    await refused('x', /^\$\.\$headers must be an object/)
    assert(bench.upstream.received.every(({ method }) => method === 'GET'))
  })

  const wants: ReadonlyArray<readonly [how: string, replace: readonly [string, string], sent: boolean]> = [
    ['a required extension', ['<soap:binding', '<a:UsingAddressing wsdl:required="true"/><soap:binding'], true],
    ['an extension that is not required', ['<soap:binding', '<a:UsingAddressing/><soap:binding'], false],
    [
      'a policy of the binding',
      ['<soap:binding', '<p:Policy><p:All><a:UsingAddressing/></p:All></p:Policy><soap:binding'],
      true
    ],
    [
      'an optional policy',
      ['<soap:binding', '<p:Policy><a:UsingAddressing p:Optional="true"/></p:Policy><soap:binding'],
      false
    ],
    ['a policy of the port', ['<soap:address', '<p:PolicyReference URI="#pol"/><soap:address'], true]
  ]
  for (const [how, [before, after], sent] of wants) {
    it(`${sent ? 'sends' : 'omits'} WS-Addressing headers with ${how}`, async () => {
      const policy = '<p:Policy Name="pol"><p:ExactlyOne><p:All><a:UsingAddressing/></p:All></p:ExactlyOne></p:Policy>'
      const wsdl = WSDL.replace(before, after)
        .replace('<wsdl:types>', `${policy}<wsdl:types>`)
        .replace(
          '<wsdl:definitions',
          '<wsdl:definitions xmlns:a="http://www.w3.org/2006/05/addressing/wsdl" xmlns:p="http://www.w3.org/ns/ws-policy"'
        )
      await using bench = await soapBench(wsdl)
      await bench.call({ operation: 'get', get: 'a', $headers: { Auth: { user: 'u' } } })
      const root = parseXml(bench.upstream.received.at(-1)?.body.toString() ?? '')
      const header = firstElement(root, ENVELOPE, 'Header') ?? assert.fail()
      const text = (name: string) => {
        const block = firstElement(header, 'http://www.w3.org/2005/08/addressing', name)
        return block && textOf(block)
      }
      assert.deepEqual([text('Action'), text('To')], sent ? ['g', '/svc'] : [undefined, undefined])
      if (sent) assert.match(text('MessageID') ?? '', /^urn:uuid:[0-9a-f-]{36}$/)
      assert(firstElement(header, 'urn:t', 'Auth') !== undefined)
    })
  }

  for (const digest of [false, true]) {
    it(`authenticates by a UsernameToken, with the password as ${digest ? 'a digest' : 'text'}`, async () => {
      const usernameToken = { username: 'ann', password: 's<cret', digest }
      await using bench = await soapBench(WSDL, undefined, { auth: { usernameToken } })
      for (const get of ['a', 'a'.repeat(SOAP_INLINE_BYTES_MAX)]) {
        await bench.call({ operation: 'get', get })
        const root = parseXml(bench.upstream.received.at(-1)?.body.toString() ?? '')
        const security = firstElement(root, ENVELOPE, 'Header') ?? assert.fail()
        const token = firstElement(firstElement(security) ?? assert.fail()) ?? assert.fail()
        const [user, password, nonce, created] = elements(token).map(textOf)
        const proof = createHash('sha1')
          .update(Buffer.from(nonce ?? '', 'base64'))
          .update(created ?? '')
        assert.equal(user, 'ann')
        assert.equal(password, digest ? proof.update('s<cret').digest('base64') : 's<cret')
        if (digest) assert(Math.abs(Date.parse(created ?? '') - Date.now()) < 60_000)
      }
      assert(!bench.inspection.snapshot.includes('s<cret'))
    })
  }

  it('describes them by JSON Schema', async () => {
    await using bench = await soapBench(WSDL)
    const [get] = bench.inspection.description.operations
    const schema = JSON.parse(JSON.stringify(get)) as {
      input: { properties: { $headers: unknown } }
      output: { properties: { $headers: unknown } }
    }
    assert.deepEqual(schema.input.properties.$headers, {
      type: 'object',
      properties: { Auth: { $ref: '#/$defs/Auth' } },
      additionalProperties: false
    })
    assert.deepEqual(schema.output.properties.$headers, {
      type: 'object',
      properties: { Quota: { $ref: '#/$defs/Quota' } }
    })
  })
})
