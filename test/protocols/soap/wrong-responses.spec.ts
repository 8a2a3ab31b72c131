import assert from 'node:assert/strict'
import { answering } from '../../helpers/scripted-upstream.ts'
import { envelope, type SoapBench, soapBench, SOAP12, wsdlOf, XML } from './soap-kit.ts'

const SCHEMA = `
  <xs:element name="do"><xs:complexType/></xs:element>
  <xs:element name="doResponse"><xs:complexType/></xs:element>
  <xs:element name="say"><xs:complexType/></xs:element>
  <xs:element name="sayResponse"><xs:complexType><xs:sequence>
    <xs:element name="text" type="xs:string" minOccurs="0"/>
    <xs:element name="n" type="xs:int" minOccurs="0"/>
    <xs:element name="marked" minOccurs="0"><xs:complexType><xs:simpleContent><xs:extension base="xs:string">
      <xs:attribute name="mark" type="xs:int"/></xs:extension></xs:simpleContent></xs:complexType></xs:element>
  </xs:sequence></xs:complexType></xs:element>
  <xs:element name="open"><xs:complexType/></xs:element>
  <xs:element name="openResponse"><xs:complexType><xs:sequence><xs:any processContents="lax" minOccurs="0"/></xs:sequence></xs:complexType></xs:element>
  <xs:element name="tell"><xs:complexType/></xs:element>`
const WSDL = wsdlOf({
  schema: SCHEMA,
  operations: {
    do: ['do', 'doResponse'],
    say: ['say', 'sayResponse'],
    open: ['open', 'openResponse'],
    tell: ['tell', undefined]
  }
})

describe('a wrong SOAP response', () => {
  let bench: SoapBench
  before(async () => {
    bench = await soapBench(WSDL)
  })
  after(() => bench?.[Symbol.asyncDispose]())

  function answerOf(operation: string, body: string): Promise<unknown> {
    bench.upstream.behave(answering(200, XML, body === '' ? '' : envelope(body)))
    return bench.json({ operation })
  }

  const faults = {
    'the namespace of SOAP 1.2': `<f:Fault xmlns:f="${SOAP12}"><f:Code><f:Value>f:Receiver</f:Value></f:Code><f:Reason><f:Text>no</f:Text></f:Reason></f:Fault>`,
    'no namespace': '<Fault><faultcode>Receiver</faultcode><faultstring>no</faultstring></Fault>'
  }
  for (const [where, fault] of Object.entries(faults)) {
    it(`is a fault also in ${where}`, async () => {
      for (const operation of ['do', 'say', 'open', 'tell']) {
        await assert.rejects(answerOf(operation, fault), {
          code: 'soap_fault',
          members: { fault: { code: 'Receiver', reason: 'no' } }
        })
      }
    })
  }

  it('is no response of an operation that responds with nothing', async () => {
    for (const other of ['<error xmlns="urn:t">bad</error>', '<html><body>Sorry</body></html>']) {
      await assert.rejects(answerOf('do', other), { code: 'upstream_invalid_response' })
    }
    assert.deepEqual(await answerOf('do', '<done xmlns="urn:t"> </done>'), {})
    assert.deepEqual(await answerOf('open', '<other xmlns="urn:t"><x>1</x></other>'), {
      $any: [{ '{urn:t}x': '1' }]
    })
  })

  it('keeps the elements in the place of a text', async () => {
    const html = '<text>Hello <b>you</b>!</text><n><x>4</x></n><marked mark="1"><i>5</i></marked>'
    assert.deepEqual(await answerOf('say', `<sayResponse xmlns="urn:t">${html}</sayResponse>`), {
      text: { $any: ['Hello ', { '{urn:t}b': 'you' }, '!'] },
      n: { $any: [{ '{urn:t}x': '4' }] },
      marked: { mark: 1, $any: [{ '{urn:t}i': '5' }] }
    })
  })

  it('is named as empty if it has no body', async () => {
    await assert.rejects(answerOf('say', ''), {
      code: 'upstream_invalid_response',
      message: /\(HTTP 200\) without a body/
    })
  })
})
