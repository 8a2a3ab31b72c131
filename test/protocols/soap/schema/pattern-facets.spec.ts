import assert from 'node:assert/strict'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { soapBench, type SoapBench, wsdlOf } from '../soap-kit.ts'

const type = (name: string, content: string) => `<xs:simpleType name="${name}">${content}</xs:simpleType>`
const restriction = (base: string, ...patterns: string[]) =>
  `<xs:restriction base="${base}">${patterns.map((one) => `<xs:pattern value="${one}"/>`).join('')}</xs:restriction>`
const TYPES = {
  either: restriction('xs:string', '[a-z-[aeiou]]+', '\\d{2}'),
  both: restriction('t:either', '.{2,3}'),
  collapsed: restriction('xs:token', '\\i\\c*'),
  number: restriction('xs:decimal', '\\d+\\.\\d{2}'),
  code: restriction('xs:int', '[0-9]{4}'),
  union: `<xs:union memberTypes="t:both t:other"/>`,
  other: restriction('xs:string', 'true|q'),
  narrowed: restriction('t:union', 'x.*|true'),
  binary: restriction('xs:base64Binary', '[A-Z]+=*'),
  list: restriction('t:words', '(a|b)( (a|b))*'),
  words: '<xs:list itemType="xs:string"/>',
  unchecked: restriction('xs:string', '(a{1,99}){1,99}')
}
const VALUES: readonly unknown[] = [
  'bcd',
  'bcdf',
  'abc',
  '12',
  '1',
  'xz',
  ' bc ',
  '_x·',
  '1x',
  '1.50',
  '1.5',
  1.5,
  true,
  '',
  'AAAA',
  ['a', 'b'],
  ['c']
]

/** The published patterns must equal the checked ones for any validator. */
describe('pattern facets', () => {
  let bench: SoapBench
  before(async () => {
    const fields = Object.keys(TYPES).map((name) => `<xs:element name="${name}" type="t:${name}" minOccurs="0"/>`)
    const types = Object.entries(TYPES).map(([name, content]) => type(name, content))
    bench = await soapBench(
      wsdlOf({
        schema: `<xs:element name="echo"><xs:complexType><xs:sequence>${fields.join('')}</xs:sequence></xs:complexType></xs:element>${types.join('')}`
      })
    )
  })
  after(() => bench[Symbol.asyncDispose]())

  const isTaken = (field: string, value: unknown) =>
    bench.call({ operation: 'echo', [field]: value }).then(
      () => true,
      (error: unknown) => {
        assert.equal((error as { code?: string }).code, 'invalid_request')
        return false
      }
    )

  for (const field of ['either', 'both', 'collapsed', 'union', 'narrowed'] as const) {
    it(`are published as checked: ${field}`, async () => {
      const validate = new Ajv2020({ strict: false }).compile(bench.inspection.description.operations[0]?.input ?? {})
      for (const value of VALUES) {
        assert.equal(
          validate({ operation: 'echo', [field]: value }),
          await isTaken(field, value),
          JSON.stringify(value)
        )
      }
    })
  }

  it('of several steps must all match, of one step any', async () => {
    assert.deepEqual(await Promise.all(['bcd', '12', 'b', 'abc', '123'].map((value) => isTaken('both', value))), [
      true,
      true,
      false,
      false,
      false
    ])
  })

  it('of values with another JSON form are checked, and published as a note', async () => {
    const { $defs } = (bench.inspection.description.operations[0]?.input ?? {}) as { $defs: Record<string, object> }
    assert.deepEqual(await Promise.all([isTaken('binary', 'AAAA'), isTaken('binary', 'aaaa')]), [true, false])
    assert.deepEqual(await Promise.all([isTaken('list', ['a', 'b']), isTaken('list', ['a', 'c'])]), [true, false])
    assert.match(
      JSON.stringify($defs['binary']),
      /"\$comment":"The provider checks patterns of XML Schema: \[A-Z\]\+=\*"/
    )
    assert.match(JSON.stringify($defs['list']), /"\$comment"/)
    assert.doesNotMatch(JSON.stringify([$defs['list'], $defs['binary']]), /"pattern":"[^"]*(?:\(a\|b\)|\[A-Z\]\+)/)
  })

  it('of integers apply to the text as given, with leading zeros', async () => {
    assert.deepEqual(await Promise.all(['0739', '739', 739, 1739].map((value) => isTaken('code', value))), [
      true,
      false,
      false,
      true
    ])
  })

  it('that are not supported are neither checked nor published, and the provider gets a warning', async () => {
    assert(await isTaken('unchecked', 'b'))
    assert.match(bench.inspection.warnings.join('\n'), /\(a\{1,99\}\)\{1,99\}.*only the service checks/)
    assert.doesNotMatch(JSON.stringify(bench.inspection.description), /1,99/)
  })
})
