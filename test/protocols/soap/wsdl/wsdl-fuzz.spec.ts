import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { isSoukError } from '../../../../lib/base/errors.ts'
import { SOAP_INLINE_STEPS_MAX } from '../../../../lib/base/limits/soap.ts'
import { utf8 } from '../../../../lib/base/bytes.ts'
import { Meter, OutOfSteps } from '../../../../protocols/pattern/meter.ts'
import { openSnapshot, withMapping } from '../../../../protocols/soap/snapshot.ts'
import { translateReply, translateRequest } from '../../../../protocols/soap/translation.ts'
import { readWsdl } from '../../../../protocols/soap/wsdl-tasks.ts'
import { fuzzRuns } from '../../../helpers/fuzz-runs.ts'
import { envelope, rpc, wsdlOf } from '../soap-kit.ts'
import { assertCpuBelow } from '../../../helpers/cpu-time.ts'

const RUNS = fuzzRuns(400)
/** CPU time for one WSDL of a few kilobytes, and two calls. */
const CASE_MS = 5_000

const SCHEMA = `<xs:element name="echo"><xs:complexType><xs:complexContent><xs:extension base="t:Base"><xs:sequence>
    <xs:choice minOccurs="0" maxOccurs="unbounded"><xs:element name="a" type="t:Code"/><xs:element ref="t:head"/><xs:group ref="t:g"/></xs:choice>
    <xs:element name="list" type="t:List" minOccurs="0" nillable="true"/><xs:any minOccurs="0" processContents="lax"/>
  </xs:sequence><xs:attributeGroup ref="t:ag"/></xs:extension></xs:complexContent></xs:complexType></xs:element>
  <xs:complexType name="Base" mixed="true"><xs:sequence><xs:element name="base" type="xs:int" default="7"/><xs:element name="self" type="t:Derived" minOccurs="0"/></xs:sequence></xs:complexType>
  <xs:complexType name="Derived"><xs:complexContent><xs:extension base="t:Base"><xs:sequence><xs:element name="x" fixed="y" type="xs:string" maxOccurs="3"/></xs:sequence></xs:extension></xs:complexContent></xs:complexType>
  <xs:group name="g"><xs:sequence><xs:element name="g1" type="xs:decimal"/><xs:group ref="t:h" minOccurs="0" maxOccurs="9"/></xs:sequence></xs:group>
  <xs:group name="h"><xs:choice><xs:element name="h1" type="t:Either"/><xs:element name="h2"/></xs:choice></xs:group>
  <xs:attributeGroup name="ag"><xs:attribute name="at" type="t:Code" use="required"/><xs:attributeGroup ref="t:bg"/></xs:attributeGroup>
  <xs:attributeGroup name="bg"><xs:anyAttribute/></xs:attributeGroup>
  <xs:element name="head" type="t:Base"/><xs:element name="tail" type="t:Derived" substitutionGroup="t:head"/>
  <xs:simpleType name="Code"><xs:restriction base="xs:token"><xs:pattern value="[A-Z-[IO]]{1,3}(\\d|x)*"/><xs:enumeration value="AB1"/><xs:maxLength value="9"/></xs:restriction></xs:simpleType>
  <xs:simpleType name="List"><xs:list itemType="t:Either"/></xs:simpleType>
  <xs:simpleType name="Either"><xs:union memberTypes="t:Code xs:int t:Other"/></xs:simpleType>
  <xs:simpleType name="Other"><xs:restriction base="t:Either"><xs:pattern value="(a|b)*"/></xs:restriction></xs:simpleType>`

const BASES = [wsdlOf({ schema: SCHEMA }), wsdlOf({ schema: SCHEMA, soap: '1.2' }), rpc('literal'), rpc('encoded')]
const WORDS = [
  '0',
  '-1',
  '999999999',
  'unbounded',
  '',
  't:Base',
  't:Derived',
  't:Code',
  't:Either',
  't:List',
  't:g',
  't:h',
  't:ag',
  't:head',
  'xs:int',
  'xs:anyType',
  'xs:QName',
  'xs:base64Binary',
  't:none',
  'none:x',
  'true',
  'encoded',
  'rpc',
  'document',
  '__proto__',
  'echo',
  '(a+)+',
  '[a-[b-[c]]]',
  '(((',
  '\\p{IsGreek}',
  '\\i\\c*',
  'a{1,999}',
  '{}',
  ']]>',
  '&#0;',
  '&lt;'
]
const TAGS = [
  'sequence',
  'choice',
  'all',
  'group',
  'element',
  'complexType',
  'simpleType',
  'union',
  'list',
  'restriction',
  'extension',
  'any',
  'attribute'
]

type Mutation = (text: string) => string

/** A tag with its content up to its end tag, found by a simple pattern. */
function piece(text: string, at: number): { readonly from: number; readonly to: number } {
  const from = text.indexOf('<', at % text.length)
  const name = /^<([\w:]+)/.exec(text.slice(from, from + 60))?.[1]
  const end = name === undefined ? -1 : text.indexOf(`</${name}>`, from)
  const open = text.indexOf('>', from)
  if (from === -1 || open === -1) return { from: 0, to: 0 }
  return { from, to: text[open - 1] === '/' || end === -1 ? open + 1 : end + (name?.length ?? 0) + 3 }
}

const place = fc.nat(100_000)
const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  fc.tuple(place, fc.constantFrom(...WORDS)).map(
    ([at, word]): Mutation =>
      (text) => {
        const from = text.indexOf('="', at % text.length)
        const to = text.indexOf('"', from + 2)
        return from === -1 || to === -1 ? text : `${text.slice(0, from + 2)}${word}${text.slice(to)}`
      }
  ),
  place.map(
    (at): Mutation =>
      (text) => {
        const { from, to } = piece(text, at)
        return text.slice(0, from) + text.slice(to)
      }
  ),
  fc.tuple(place, place, fc.integer({ min: 1, max: 40 })).map(
    ([at, to, times]): Mutation =>
      (text) => {
        const one = piece(text, at)
        const target = piece(text, to).from
        return text.slice(0, target) + text.slice(one.from, one.to).repeat(times) + text.slice(target)
      }
  ),
  fc.tuple(place, fc.constantFrom(...TAGS), fc.integer({ min: 1, max: 60 })).map(
    ([at, tag, times]): Mutation =>
      (text) => {
        const { from, to } = piece(text, at)
        return (
          text.slice(0, from) +
          `<xs:${tag}>`.repeat(times) +
          text.slice(from, to) +
          `</xs:${tag}>`.repeat(times) +
          text.slice(to)
        )
      }
  ),
  fc.tuple(fc.constantFrom(...TAGS), fc.constantFrom(...TAGS)).map(
    ([one, other]): Mutation =>
      (text) =>
        text.replaceAll(`xs:${one}`, `xs:${other}`)
  ),
  fc.tuple(place, fc.string({ unit: 'binary', maxLength: 3 })).map(
    ([at, chars]): Mutation =>
      (text) => {
        const from = at % text.length
        return text.slice(0, from) + chars + text.slice(from + chars.length)
      }
  )
)
const CALLS = [
  {},
  { base: 1, a: ['AB1'], at: 'AB1', list: [1, 'AB1'], self: { base: 2, x: ['y'] } },
  { g1: ['1.5'], h1: [1], head: [{ base: 1 }], tail: [{ base: 1, x: [] }], $any: [{ echo: {} }] },
  { a: 1, b: '2', at: null, list: 'aab', self: { $type: 'Derived', self: { $type: 'Base' } } }
]
const ANSWER =
  '<t:echo xmlns:t="urn:t" at="AB1"><t:base/><t:a>AB1</t:a><t:list>1 AB1 aab</t:list><t:self><t:base>x</t:base></t:self><t:tail/></t:echo>'

/** Untrusted input succeeds or ends in a documented error. */
function refused(error: unknown): void {
  if (error instanceof OutOfSteps) return
  assert(isSoukError(error) && error.code !== 'internal_error', error instanceof Error ? error.stack : String(error))
}

function use(snapshot: string): void {
  const { service } = openSnapshot(snapshot)
  const meter = () => new Meter(SOAP_INLINE_STEPS_MAX)
  for (const operation of [...service.operations.keys()].slice(0, 2)) {
    for (const call of CALLS) {
      try {
        translateRequest(service, { bytes: utf8(JSON.stringify({ operation, ...call })), type: undefined }, meter())
      } catch (error) {
        refused(error)
      }
    }
    try {
      translateReply(service, { operation, status: 200, type: undefined, bytes: utf8(envelope(ANSWER)) }, meter())
    } catch (error) {
      refused(error)
    }
  }
}

describe('mutated WSDLs', () => {
  it(`are read, opened and called, or rejected: ${RUNS.numRuns}`, async function () {
    this.timeout(RUNS.numRuns * CASE_MS)
    let taken = 0
    const texts = fc
      .tuple(fc.constantFrom(...BASES), fc.array(mutation, { minLength: 1, maxLength: 6 }))
      .map(([base, mutations]) => mutations.reduce((text, mutate) => mutate(text), base))
    await fc.assert(
      fc.asyncProperty(texts, async (text) => {
        const endpoint = 'http://x.invalid/svc?wsdl'
        await assertCpuBelow(CASE_MS, async () => {
          try {
            const read = await readWsdl({ endpoint, fetched: [{ url: endpoint, bytes: utf8(text), type: 'text/xml' }] })
            if ('wanted' in read) return
            taken++
            assert.doesNotThrow(() => JSON.stringify(read.description))
            assert.equal(openSnapshot(read.snapshot).description.operations.length, read.description.operations.length)
            use(read.snapshot)
            use(withMapping(read.snapshot, { version: 1, revision: 1, operations: {} }).snapshot)
          } catch (error) {
            refused(error)
          }
        })
      }),
      RUNS
    )
    assert(taken > RUNS.numRuns / 10, `only ${taken} were taken`)
  })
})
