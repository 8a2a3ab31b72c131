import assert from 'node:assert/strict'
import { assertXml, type SoapBench, soapBench, wsdlOf } from './soap-kit.ts'

const any = (occurs = '') => `<xs:any namespace="##other" processContents="lax" ${occurs}/>`
const element = (name: string) => `<xs:element name="${name}" type="xs:int" minOccurs="0"/>`
const items = (...names: string[]) => names.map((name) => ({ [`{urn:x}${name}`]: '1' }))
const sent = (...names: string[]) => names.map((name) => `<${name} xmlns="urn:x">1</${name}>`).join('')

describe('the wildcards of a SOAP request', () => {
  const opened: SoapBench[] = []
  afterEach(async () => {
    for (const bench of opened.splice(0)) await bench[Symbol.asyncDispose]()
  })
  async function open(content: string, mixed = false): Promise<SoapBench> {
    const type = `<xs:complexType mixed="${mixed}"><xs:sequence>${content}</xs:sequence></xs:complexType>`
    const bench = await soapBench(wsdlOf({ schema: `<xs:element name="echo">${type}</xs:element>` }))
    opened.push(bench)
    return bench
  }
  async function refused(bench: SoapBench, body: object, message: string): Promise<void> {
    await assert.rejects(bench.json({ operation: 'echo', ...body }), { code: 'invalid_request', message })
    assert(bench.upstream.received.every(({ method }) => method === 'GET'))
  }

  it('have the number of elements that the schema allows', async () => {
    const one = await open(element('a') + any())
    await refused(one, {}, '$.$any is required.')
    await refused(one, { a: 1 }, '$.$any is required.')
    await refused(one, { $any: [] }, '$.$any is required.')
    await refused(one, { $any: items('x', 'y') }, '$.$any can have only 1 elements.')
    await refused(one, { $any: 'x' }, '$.$any must be an array; got "x".')
    await one.json({ operation: 'echo', $any: items('x') })
    assertXml(one.sent()[0], `<t:echo>${sent('x')}</t:echo>`)
    const some = await open(any('minOccurs="2" maxOccurs="3"'))
    await refused(some, { $any: items('x') }, '$.$any must have at least 2 items.')
    await refused(some, { $any: items('w', 'x', 'y', 'z') }, '$.$any can have only 3 elements.')
    const free = await open(any('minOccurs="0"'))
    assert.deepEqual(await free.json({ operation: 'echo' }), {})
  })

  it('share the elements in their order', async () => {
    const bench = await open(any('minOccurs="0"') + element('a') + any())
    await bench.json({ operation: 'echo', a: 1, $any: items('x', 'y') })
    assertXml(bench.sent()[0], `<t:echo>${sent('x')}<t:a>1</t:a>${sent('y')}</t:echo>`)
    await bench.json({ operation: 'echo', $any: items('x') })
    await assert.rejects(bench.json({ operation: 'echo', $any: items('x', 'y', 'z') }), { code: 'invalid_request' })
    const pairs = await open(`<xs:sequence minOccurs="0" maxOccurs="unbounded">${any()}${element('a')}</xs:sequence>`)
    await pairs.json({ operation: 'echo', a: [1, 2], $any: items('x', 'y') })
    assertXml(pairs.sent()[0], `<t:echo>${sent('x')}<t:a>1</t:a>${sent('y')}<t:a>2</t:a></t:echo>`)
  })

  it('have text only in mixed content, where it does not count', async () => {
    const bench = await open(any('maxOccurs="2"'))
    const message = '$.$any[1] must be an object with the name of an element: there can be no text here; got "text".'
    await refused(bench, { $any: [...items('x'), 'text'] }, message)
    const mixed = await open(any(), true)
    await mixed.json({ operation: 'echo', $any: ['a', ...items('x'), 'b'] })
    await assert.rejects(mixed.json({ operation: 'echo', $any: ['a'] }), { message: '$.$any is required.' })
  })
})
