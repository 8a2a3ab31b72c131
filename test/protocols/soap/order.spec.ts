import assert from 'node:assert/strict'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { soapFactory } from '../../../protocols/soap/soap-factory.ts'
import { FOREVER, jsonOf, plainCall } from '../../helpers/adapter-bench.ts'
import { assertXml, type SoapBench, soapBench, wsdlOf } from './soap-kit.ts'

const element = (name: string, rest = 'type="xs:int"') => `<xs:element name="${name}" ${rest}/>`
const wsdl = (content: string) =>
  wsdlOf({ schema: `<xs:element name="echo"><xs:complexType>${content}</xs:complexType></xs:element>` })

/** A repeated choice beside other elements; a repeated sequence that may omit an element; a wildcard in a choice. */
const CHOICE = `<xs:sequence>${element('id')}<xs:choice minOccurs="0" maxOccurs="unbounded">${element('set')}${element('delete')}${element('append')}</xs:choice>${element('end', 'type="xs:int" minOccurs="0"')}</xs:sequence>`
const ROWS = `<xs:sequence maxOccurs="unbounded">${element('key')}${element('value', 'type="xs:int" minOccurs="0"')}</xs:sequence>`
const OPEN = `<xs:choice maxOccurs="unbounded">${element('a')}<xs:any namespace="##other"/></xs:choice>`
const NESTED = `<xs:choice maxOccurs="unbounded"><xs:sequence>${element('key')}${element('value')}</xs:sequence>${element('mark')}</xs:choice>`

describe('the order of SOAP elements that the schema leaves open', () => {
  const opened: SoapBench[] = []
  afterEach(async () => {
    for (const bench of opened.splice(0)) await bench[Symbol.asyncDispose]()
  })
  async function open(content: string): Promise<SoapBench> {
    const bench = await soapBench(wsdl(content))
    opened.push(bench)
    return bench
  }

  const cases: ReadonlyArray<readonly [content: string, json: object, xml: string]> = [
    [
      CHOICE,
      { id: 1, set: [2, 4], delete: [3], $order: ['delete', 'set'], end: 9 },
      '<t:id>1</t:id><t:delete>3</t:delete><t:set>2</t:set><t:set>4</t:set><t:end>9</t:end>'
    ],
    [
      CHOICE,
      { id: 1, set: [2, 4], append: [5], delete: [3], $order: ['set', 'delete', 'set', 'append'] },
      '<t:id>1</t:id><t:set>2</t:set><t:delete>3</t:delete><t:set>4</t:set><t:append>5</t:append>'
    ],
    [
      ROWS,
      { key: [1, 2, 3], value: [20], $order: ['key', 'key', 'value', 'key'] },
      '<t:key>1</t:key><t:key>2</t:key><t:value>20</t:value><t:key>3</t:key>'
    ],
    [
      OPEN,
      { a: [1, 2], $any: [{ '{urn:x}b': 'x' }, { '{urn:x}c': 'y' }], $order: ['a', '$any', 'a', '$any'] },
      '<t:a>1</t:a><b xmlns="urn:x">x</b><t:a>2</t:a><c xmlns="urn:x">y</c>'
    ],
    [
      NESTED,
      { key: [1, 3], value: [2, 4], mark: [0], $order: ['key', 'value', 'mark', 'key', 'value'] },
      '<t:key>1</t:key><t:value>2</t:value><t:mark>0</t:mark><t:key>3</t:key><t:value>4</t:value>'
    ]
  ]
  for (const [content, json, xml] of cases) {
    it(`is kept both ways: ${JSON.stringify(json)}`, async () => {
      const bench = await open(content)
      const read = await bench.json({ operation: 'echo', ...json })
      assertXml(bench.sent()[0], `<t:echo>${xml}</t:echo>`)
      const [operation] = bench.inspection.description.operations
      const ajv = new Ajv2020({ strict: false })
      assert(ajv.compile(operation?.input ?? {})({ operation: 'echo', ...json }))
      assert(ajv.compile(operation?.output ?? {})(read))
      // The same document again.
      await bench.json({ operation: 'echo', ...(read as object) })
      assertXml(bench.sent()[0], `<t:echo>${xml}</t:echo>`)
    })
  }

  it('needs no list where it is the order of the schema, and there are no empty arrays', async () => {
    const bench = await open(CHOICE)
    assert.deepEqual(await bench.json({ operation: 'echo', id: 1, append: [5], set: [2, 3] }), {
      id: 1,
      set: [2, 3],
      append: [5]
    })
    assert.deepEqual(await bench.json({ operation: 'echo', id: 1 }), { id: 1 })
  })

  it('may name elements that are not given; elements without a name come last', async () => {
    const bench = await open(CHOICE)
    await bench.json({ operation: 'echo', id: 1, set: [2], delete: [3], $order: ['append', 'delete', 'delete'] })
    assertXml(bench.sent()[0], '<t:echo><t:id>1</t:id><t:delete>3</t:delete><t:set>2</t:set></t:echo>')
  })

  it('is refused with other names, or where the schema has another one', async () => {
    const bench = await open(ROWS)
    const refused = { code: 'invalid_request', members: { path: '$.$order' } }
    await assert.rejects(bench.json({ operation: 'echo', key: [1], $order: ['other'] }), refused)
    await assert.rejects(bench.json({ operation: 'echo', key: [1], $order: 'key' }), refused)
    await assert.rejects(bench.json({ operation: 'echo', key: [1], value: [2], $order: ['value', 'key'] }), {
      ...refused,
      message: '$.$order has value where the schema has key.'
    })
    const plain = await open(`<xs:sequence>${element('a')}${element('b')}</xs:sequence>`)
    await assert.rejects(plain.json({ operation: 'echo', a: 1, b: 2, $order: ['b', 'a'] }), refused)
  })

  it('has the names of a mapping', async () => {
    const bench = await open(CHOICE)
    const rules = {
      input: { delete: { rename: 'remove' } },
      output: { delete: { rename: 'remove' }, append: { hide: true } }
    }
    const mapping = { version: 1, revision: 1, operations: { echo: rules } }
    const { snapshot } = (await soapFactory.mapping?.with(bench.inspection.snapshot, mapping)) ?? assert.fail()
    const adapter = soapFactory.open({ endpoint: `${bench.upstream.url}/svc?wsdl` }, snapshot)
    const given = { operation: 'echo', id: 1, set: [2], remove: [3], append: [4], $order: ['remove', 'append', 'set'] }
    assert.deepEqual(await jsonOf(await adapter.call(plainCall(given), FOREVER)), {
      id: 1,
      remove: [3],
      set: [2],
      $order: ['remove', 'set']
    })
    assertXml(
      bench.sent()[0],
      '<t:echo><t:id>1</t:id><t:delete>3</t:delete><t:append>4</t:append><t:set>2</t:set></t:echo>'
    )
    await adapter.close?.()
  })
})
