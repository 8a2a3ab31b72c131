import assert from 'node:assert/strict'
import { callsOf, documentOf, type Json } from './document-kit.ts'

const TEXT = { type: 'string' }
const xml = (more: Json, schema: Json = TEXT): Json => ({ ...schema, xml: more })
const ref = (name: string, more: Json = {}): Json => ({ $ref: `#/components/schemas/${name}`, ...more })

/** The XML of a body whose root is `<r>`, without its declaration. */
async function written(properties: Json, value: Json, schemas: Json = {}, openapi = '3.1.1'): Promise<string> {
  const schema = { type: 'object', xml: { name: 'r' }, properties }
  const requestBody = { required: true, content: { 'application/xml': { schema } } }
  const { map } = callsOf(documentOf({ requestBody }, '/x', openapi, { components: { schemas } }))
  const { body } = await map({ operation: 'op', body: value })
  return Buffer.from(body?.bytes ?? [])
    .toString()
    .replace(/^<\?xml.*\?>\n/, '')
}

describe('an XML body has', () => {
  const Cat = { type: 'object', xml: { name: 'cat' }, properties: { id: xml({ attribute: true }), name: TEXT } }
  const Lang = xml({ attribute: true, name: 'lang' })
  const Tags = { type: 'array', xml: { wrapped: true, name: 'tags' }, items: xml({ name: 'tag' }) }
  const node = (nodeType: string, schema?: Json) => xml({ nodeType }, schema)

  const CASES: ReadonlyArray<
    readonly [what: string, properties: Json, value: Json, expected: string, schemas?: Json, version?: string]
  > = [
    [
      'the xml object beside a reference',
      { cat: ref('Cat', { xml: { name: 'category' } }) },
      { cat: { id: '1', name: 'a' } },
      '<r><category id="1"><name>a</name></category></r>',
      { Cat }
    ],
    ['in 3.0 that of the reference’s target', { cat: ref('Cat') }, { cat: {} }, '<r><cat/></r>', { Cat }, '3.0.4'],
    [
      'references for white space in an attribute, which a parser takes for spaces',
      { a: xml({ attribute: true }) },
      { a: 'x\ny\tz\r"<' },
      '<r a="x&#10;y&#9;z&#13;&quot;&lt;"/>'
    ],
    ['a reference for a carriage return in a text', { a: TEXT }, { a: 'x\r\ny' }, '<r><a>x&#13;\ny</a></r>'],
    ['the xml object of a single allOf', { l: { allOf: [ref('Lang')] } }, { l: 'de' }, '<r lang="de"/>', { Lang }],
    [
      'its own xml object before that of an allOf',
      { l: xml({ name: 'language' }, { allOf: [ref('Lang')] }) },
      { l: 'de' },
      '<r><language>de</language></r>',
      { Lang }
    ],
    [
      'the list of a single allOf',
      { t: { allOf: [ref('Tags')] } },
      { t: ['x', 'y'] },
      '<r><tags><tag>x</tag><tag>y</tag></tags></r>',
      { Tags }
    ],
    [
      'the xml object of an alternative to null',
      { l: { oneOf: [{ type: 'null' }, Lang] } },
      { l: 'de' },
      '<r lang="de"/>'
    ],
    ['lists in lists', { a: { type: 'array', items: {} } }, { a: [[1, 2]] }, '<r><a><a>1</a><a>2</a></a></r>'],
    ['attributes by nodeType', { a: node('attribute') }, { a: 'x' }, '<r a="x"/>', {}, '3.2.0'],
    [
      'a text by nodeType',
      { a: node('attribute'), b: node('text') },
      { a: 'x', b: 'y & z' },
      '<r a="x">y &amp; z</r>',
      {},
      '3.2.0'
    ],
    [
      'a CDATA section by nodeType',
      { a: node('cdata') },
      { a: '<b>]]>\r\n' },
      '<r><![CDATA[<b>]]]]><![CDATA[>]]>&#13;<![CDATA[\n]]></r>',
      {},
      '3.2.0'
    ],
    [
      'the members of an object without a node of its own',
      { a: node('none', { type: 'object', properties: { b: node('attribute'), c: TEXT } }) },
      { a: { b: 'x', c: 'y' } },
      '<r b="x"><c>y</c></r>',
      {},
      '3.2.0'
    ],
    [
      'a list with an element of its own by nodeType',
      { a: node('element', { type: 'array', items: xml({ name: 'b' }) }) },
      { a: ['x', 'y'] },
      '<r><a><b>x</b><b>y</b></a></r>',
      {},
      '3.2.0'
    ]
  ]
  for (const [what, properties, value, expected, schemas, version] of CASES) {
    it(what, async () => {
      assert.equal(await written(properties, value, schemas, version), expected)
    })
  }

  it('no attribute twice', async () => {
    const item = node('none', { type: 'object', properties: { id: node('attribute') } })
    const properties = { a: { type: 'array', items: item } }
    assert.equal(await written(properties, { a: [{ id: '1' }] }, {}, '3.2.0'), '<r id="1"/>')
    await assert.rejects(written(properties, { a: [{ id: '1' }, { id: '2' }] }, {}, '3.2.0'), /attribute "id" twice/)
  })
})
