import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { openService, planService } from '../../../protocols/soap/service.ts'
import { parseWsdlFiles } from '../../../protocols/soap/wsdl/wsdl-files.ts'
import { PublishedSchema } from '../../conformance/published-schema.ts'
import { fuzzRuns } from '../../helpers/fuzz-runs.ts'
import { wsdlOf } from './soap-kit.ts'

const restricted = (base: string, facets: Readonly<Record<string, string | number>>) =>
  `<xs:simpleType><xs:restriction base="${base}">${Object.entries(facets)
    .map(([name, value]) => `<xs:${name} value="${value}"/>`)
    .join('')}</xs:restriction></xs:simpleType>`
const list = (item: string) => `<xs:simpleType><xs:list itemType="${item}"/></xs:simpleType>`

/** Simple types by the facets that a schema language and XML Schema count differently. */
const SIMPLE = [
  restricted('xs:decimal', { fractionDigits: 2, minInclusive: '0.01', maxExclusive: 1000 }),
  restricted('xs:decimal', { totalDigits: 4, minExclusive: -12.5 }),
  restricted('xs:decimal', { pattern: '\\d{1,3}\\.\\d{2}' }),
  restricted('xs:long', { minInclusive: 5 }),
  restricted('xs:integer', { maxInclusive: -3, totalDigits: 3 }),
  restricted('xs:int', { pattern: '[0-9]{4}' }),
  restricted('xs:double', { minInclusive: 1, maxExclusive: 2 }),
  restricted('xs:boolean', { pattern: '0|1' }),
  restricted('xs:token', { minLength: 2, maxLength: 4 }),
  restricted('xs:NCName', { maxLength: 3 }),
  restricted('xs:string', { length: 3 }),
  restricted('xs:string', { enumeration: 'a b' }),
  restricted('xs:string', { whiteSpace: 'collapse', length: 3 }),
  restricted('xs:string', { whiteSpace: 'replace', maxLength: 3 }),
  restricted('xs:base64Binary', { minLength: 2, maxLength: 4 }),
  restricted('xs:hexBinary', { length: 2 }),
  list('xs:int'),
  list('xs:token'),
  '<xs:simpleType><xs:union memberTypes="xs:boolean xs:int xs:date"/></xs:simpleType>'
]
const BUILTIN =
  'string token boolean int long unsignedLong positiveInteger decimal float dateTime duration base64Binary hexBinary anyURI NMTOKEN QName anyType anySimpleType'.split(
    ' '
  )
const OCCURS = [
  '',
  'minOccurs="0"',
  'minOccurs="0" maxOccurs="unbounded"',
  'minOccurs="2" maxOccurs="3"',
  'maxOccurs="unbounded"'
]

/** A random schema: groups in groups, each element once. */
class SchemaText {
  readonly #g: fc.GeneratorValue
  #names = 0
  #hasAny = false

  constructor(g: fc.GeneratorValue) {
    this.#g = g
  }

  /** Ajv takes seconds for large schemas. */
  #isLarge(): boolean {
    return this.#names > 12
  }

  #one<T>(values: readonly T[]): T {
    return this.#g(() => fc.constantFrom(...values))
  }

  complexType(depth: number): string {
    const content = this.#one(['group', 'group', 'group', 'text', 'derived'])
    if (content === 'derived')
      return `<xs:complexContent><xs:extension base="t:Base">${this.group(depth, '')}</xs:extension></xs:complexContent>`
    if (content === 'text')
      return `<xs:simpleContent><xs:extension base="xs:${this.#one(['string', 'decimal', 'date'])}">${this.attributes()}</xs:extension></xs:simpleContent>`
    return `${this.group(depth, this.#one(['', 'minOccurs="0"']))}${this.attributes()}`
  }

  attributes(): string {
    const one = () => {
      const use = this.#one(['required', 'optional', 'required" fixed="7'])
      return `<xs:attribute name="a${this.#names++}" type="xs:int" use="${use}"/>`
    }
    const any = this.#one(['', '', '<xs:anyAttribute processContents="lax"/>'])
    return (
      this.#one([[], [one], [one, one]])
        .map((make) => make())
        .join('') + any
    )
  }

  group(depth: number, occurs: string): string {
    const kind = this.#one(['sequence', 'sequence', 'choice'])
    const length = this.#g(fc.integer, { min: 1, max: 3 })
    return `<xs:${kind} ${occurs}>${Array.from({ length }, () => this.particle(depth)).join('')}</xs:${kind}>`
  }

  particle(depth: number): string {
    const kind =
      depth > 2 || this.#isLarge()
        ? 'element'
        : this.#one(['element', 'element', 'element', 'group', 'repeated', 'any'])
    if (kind === 'group') return this.group(depth + 1, this.#one(['', 'minOccurs="0"']))
    // A repetition of several elements has more rules than JSON Schema can tell.
    if (kind === 'repeated') {
      const element = () => this.element(depth + 1, '')
      return `<xs:choice ${this.#one(OCCURS.slice(2, 3).concat(OCCURS.slice(4)))}>${element()}${element()}</xs:choice>`
    }
    if (kind === 'any' && !this.#hasAny) {
      this.#hasAny = true
      return `<xs:any namespace="##other" processContents="lax" ${this.#one(OCCURS)}/>`
    }
    return this.element(depth, this.#one(OCCURS))
  }

  element(depth: number, occurs: string): string {
    const own = `name="e${this.#names++}" ${occurs} ${this.#one(['', '', 'nillable="true"'])}`
    const type = depth > 2 || this.#isLarge() ? 'simple' : this.#one(['simple', 'builtin', 'complex', 'base', 'text'])
    if (type === 'builtin') return `<xs:element ${own} type="xs:${this.#one(BUILTIN)}"/>`
    if (type === 'base') return `<xs:element ${own} type="t:Base"/>`
    if (type === 'text') return `<xs:element ${own} type="t:Text"/>`
    const content = type === 'simple' ? this.#one(SIMPLE) : this.#anonymous(depth)
    return `<xs:element ${own}>${content}</xs:element>`
  }

  #anonymous(depth: number): string {
    const content = this.complexType(depth + 1)
    const mixed = content.startsWith('<xs:simpleContent') ? '' : this.#one(['', '', 'mixed="true"'])
    return `<xs:complexType ${mixed}>${content}</xs:complexType>`
  }
}

const BASE = `<xs:complexType name="Base"><xs:sequence><xs:element name="id" type="xs:int"/></xs:sequence></xs:complexType>
  <xs:complexType name="More"><xs:complexContent><xs:extension base="t:Base"><xs:choice><xs:element name="x" type="xs:int"/><xs:element name="y" type="xs:string"/></xs:choice></xs:extension></xs:complexContent></xs:complexType>
  <xs:complexType name="Text"><xs:simpleContent><xs:extension base="xs:string"/></xs:simpleContent></xs:complexType>
  <xs:complexType name="Marked"><xs:simpleContent><xs:extension base="t:Text"><xs:attribute name="mark" type="xs:int" fixed="7"/></xs:extension></xs:simpleContent></xs:complexType>
  <xs:complexType name="Short"><xs:simpleContent><xs:restriction base="t:Text"><xs:maxLength value="5"/></xs:restriction></xs:simpleContent></xs:complexType>`

function published(content: string): PublishedSchema {
  const schema = `${BASE}<xs:element name="echo"><xs:complexType>${content}</xs:complexType></xs:element>`
  const service = openService(planService(parseWsdlFiles([{ url: 'http://x.invalid/', text: wsdlOf({ schema }) }])))
  return new PublishedSchema(service, 'echo', service.operations.get('echo') ?? assert.fail())
}

describe('the published schema of a SOAP API', () => {
  it('accepts only requests that are accepted, and every response fits it', () => {
    let fitting = 0
    let total = 0
    fc.assert(
      fc.property(fc.gen(), (g) => {
        const content = new SchemaText(g).complexType(0)
        const schema = published(content)
        for (let samples = 0; samples < 3; samples++) {
          const { fits, problem } = schema.sample(g)
          assert.equal(problem, undefined, content)
          total++
          if (fits) fitting++
        }
      }),
      { ...fuzzRuns(25), endOnFailure: true }
    )
    assert(fitting > total / 3, `only ${fitting} of ${total} samples say anything`)
  })
})
