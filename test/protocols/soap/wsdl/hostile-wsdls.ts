import { wsdlOf } from '../soap-kit.ts'

/** A WSDL that expands beyond its size, with its expected outcome. */
export interface HostileWsdl {
  readonly files: string | Readonly<Record<string, string>>
  /** The error message; undefined if it is accepted. */
  readonly refused?: RegExp
  /** A warning on acceptance. */
  readonly warning?: RegExp
  /** Further calls that must end, with any outcome. */
  readonly calls?: readonly object[]
}

const times = (count: number, text: (n: number) => string) => Array.from({ length: count }, (_, n) => text(n)).join('')
const echo = (type: string) =>
  `<xs:element name="echo"><xs:complexType><xs:sequence><xs:element name="it" type="${type}" minOccurs="0"/></xs:sequence></xs:complexType></xs:element>`
const ofType = (type: string, types: string) => wsdlOf({ schema: echo(type) + types })
const complex = (name: string, content: string) => `<xs:complexType name="${name}">${content}</xs:complexType>`
const sequence = (content: string, attributes = '') => `<xs:sequence ${attributes}>${content}</xs:sequence>`
const simple = (name: string, content: string) => `<xs:simpleType name="${name}">${content}</xs:simpleType>`
const element = (name: string, rest = 'type="xs:string"') => `<xs:element name="${name}" ${rest}/>`
const patterned = (pattern: string) =>
  simple('P', `<xs:restriction base="xs:string"><xs:pattern value="${pattern}"/></xs:restriction>`)
const name = (n: number) => `n${n.toString(36)}`
const LONG = 'a'.repeat(40_000)

export const HOSTILE: Readonly<Record<string, () => HostileWsdl>> = {
  'unions of two unions, thirty deep': () => ({
    files: ofType(
      't:U0',
      `${times(30, (n) => simple(`U${n}`, `<xs:union memberTypes="t:U${n + 1} t:V${n + 1}"/>`) + simple(`V${n + 1}`, `<xs:union memberTypes="t:U${n + 1} t:U${n + 1}"/>`))}${simple('U30', '<xs:union memberTypes="xs:int xs:boolean"/>')}`
    ),
    calls: [{ it: 7 }, { it: 'no' }]
  }),
  'unions with facets, which cannot be flattened': () => ({
    files: ofType(
      't:U0',
      `${times(30, (n) => simple(`U${n}`, `<xs:restriction><xs:simpleType><xs:union memberTypes="t:U${n + 1} t:W${n + 1}"/></xs:simpleType><xs:pattern value="[a-z0-9]*"/></xs:restriction>`) + simple(`W${n + 1}`, `<xs:restriction base="t:U${n + 1}"><xs:pattern value="[0-9a-f]*"/></xs:restriction>`))}${simple('U30', '<xs:restriction base="xs:string"><xs:maxLength value="3"/></xs:restriction>')}`
    ),
    calls: [{ it: 'abc' }, { it: 'abcd' }, { it: '!' }]
  }),
  'anonymous unions within each other': () => ({
    files: ofType(
      't:U',
      simple(
        'U',
        `${times(55, () => '<xs:union memberTypes="xs:int"><xs:simpleType>')}<xs:union memberTypes="xs:boolean"/>${times(55, () => '</xs:simpleType></xs:union>')}`
      )
    ),
    calls: [{ it: true }]
  }),
  'lists of lists of unions of lists': () => ({
    files: ofType(
      't:L0',
      `${times(30, (n) => simple(`L${n}`, `<xs:list itemType="t:M${n}"/>`) + simple(`M${n}`, `<xs:union memberTypes="t:L${n + 1} t:L${n + 1}"/>`))}${simple('L30', '<xs:list itemType="xs:int"/>')}`
    ),
    warning: /list of lists/,
    calls: [{ it: ['1'] }]
  }),
  'groups that refer to the next one twice, with a fixed element at the end': () => ({
    files: wsdlOf({
      schema: `<xs:element name="echo"><xs:complexType><xs:group ref="t:G0"/></xs:complexType></xs:element>${times(40, (n) => `<xs:group name="G${n}"><xs:sequence><xs:group ref="t:G${n + 1}"/><xs:group ref="t:G${n + 1}"/></xs:sequence></xs:group>`)}<xs:group name="G40">${sequence(element('a', 'type="xs:string" fixed="x"'))}</xs:group>`
    }),
    calls: [{}]
  }),
  'attribute groups that refer to each other ten times': () => ({
    files: wsdlOf({
      schema: `<xs:element name="echo"><xs:complexType><xs:attributeGroup ref="t:A0"/></xs:complexType></xs:element>${times(60, (n) => `<xs:attributeGroup name="A${n}">${times(10, () => `<xs:attributeGroup ref="t:A${n + 1}"/>`)}<xs:attribute name="a${n}"/></xs:attributeGroup>`)}<xs:attributeGroup name="A60"/>`
    }),
    calls: [{ a1: 'x' }]
  }),
  'a chain of 3,000 extensions': () => ({
    files: ofType(
      't:T0',
      times(3_000, (n) =>
        complex(
          `T${n}`,
          `<xs:complexContent><xs:extension base="t:T${n + 1}">${sequence(element(`e${n}`))}</xs:extension></xs:complexContent>`
        )
      )
    ),
    refused: /more than 100 steps/
  }),
  'a chain of 3,000 extensions, from its end': () => ({
    files: wsdlOf({
      schema: `${times(3_000, (n) => complex(`T${n}`, n === 0 ? '' : `<xs:complexContent><xs:extension base="t:T${n - 1}">${sequence(element(`e${n}`))}</xs:extension></xs:complexContent>`))}<xs:element name="echo"><xs:complexType>${sequence(times(3_000, (n) => element(`x${n}`, `type="t:T${n}" minOccurs="0"`)))}</xs:complexType></xs:element>`
    }),
    refused: /more than 100 steps/
  }),
  'a chain of 3,000 restrictions': () => ({
    files: ofType(
      't:S0',
      times(3_000, (n) =>
        simple(`S${n}`, `<xs:restriction base="t:S${n + 1}"><xs:pattern value="a{0,${n % 9}}"/></xs:restriction>`)
      )
    ),
    refused: /more than 100 steps/
  }),
  'a chain of 30,000 groups': () => ({
    files: wsdlOf({
      schema: `<xs:element name="echo"><xs:complexType><xs:group ref="t:G0"/></xs:complexType></xs:element>${times(30_000, (n) => `<xs:group name="G${n}">${sequence(`<xs:group ref="t:G${n + 1}"/>${element(`e${n}`)}`)}</xs:group>`)}`
    }),
    refused: /more than 100 steps/
  }),
  'a chain of 30,000 attribute groups': () => ({
    files: wsdlOf({
      schema: `<xs:element name="echo"><xs:complexType><xs:attributeGroup ref="t:A0"/></xs:complexType></xs:element>${times(30_000, (n) => `<xs:attributeGroup name="A${n}"><xs:attributeGroup ref="t:A${n + 1}"/><xs:attribute name="a${n}"/></xs:attributeGroup>`)}`
    }),
    refused: /more than 100 steps/
  }),
  'a chain of 20,000 substitutions': () => ({
    files: wsdlOf({
      schema: `<xs:element name="echo"><xs:complexType>${sequence('<xs:element ref="t:s0"/>')}</xs:complexType></xs:element>${times(20_000, (n) => `<xs:element name="s${n}" ${n === 0 ? '' : `substitutionGroup="t:s${n - 1}"`}/>`)}`
    }),
    refused: /more than (?:100 steps|\d+ elements)/
  }),
  'substitution groups of 2,000 elements, each used 2,000 times': () => ({
    files: wsdlOf({
      schema: `<xs:element name="head" type="xs:string"/>${times(2_000, (n) => `<xs:element name="s${n}" type="xs:string" substitutionGroup="t:head"/>`)}<xs:element name="echo"><xs:complexType>${sequence(times(2_000, () => '<xs:element ref="t:head"/>'))}</xs:complexType></xs:element>`
    }),
    refused: /more than \d+ parts/
  }),
  '800 types derived from one': () => ({
    files: wsdlOf({
      schema: `${complex('B', '')}${times(800, (n) => complex(`T${n}`, `<xs:complexContent><xs:extension base="t:B">${sequence(element('x', `type="t:T${(n + 1) % 800}" minOccurs="0"`) + times(100, (m) => element(`e${m}`)))}</xs:extension></xs:complexContent>`))}${echo('t:B')}`
    }),
    calls: [{ it: { $type: 'T1', x: {} } }]
  }),
  'a group of 1,000 elements in 2,000 types': () => ({
    files: wsdlOf({
      schema: `<xs:group name="G">${sequence(times(1_000, (n) => element(`e${n}`)))}</xs:group>${times(2_000, (n) => complex(`T${n}`, '<xs:group ref="t:G"/>'))}<xs:element name="echo"><xs:complexType>${sequence(times(2_000, (n) => element(`x${n}`, `type="t:T${n}" minOccurs="0"`)))}</xs:complexType></xs:element>`
    }),
    refused: /more than \d+ parts/
  }),
  'a type of 30,000 elements': () => ({
    files: wsdlOf({
      schema: `<xs:element name="echo"><xs:complexType>${sequence(times(30_000, (n) => element(`e${n}`)))}</xs:complexType></xs:element>`
    }),
    refused: /more than 20000 elements or attributes/
  }),
  '60,000 definitions': () => ({
    files: wsdlOf({ schema: echo('xs:string') + times(60_000, (n) => element(`e${n}`)) }),
    refused: /more than 50000 definitions/
  }),
  'an enumeration of 60,000 values, of 500 elements': () => ({
    files: wsdlOf({
      schema: `${simple('E', `<xs:restriction base="xs:string">${times(60_000, (n) => `<xs:enumeration value="v${n}"/>`)}</xs:restriction>`)}<xs:element name="echo"><xs:complexType>${sequence(times(500, (n) => element(`e${n}`, 'type="t:E" minOccurs="0" maxOccurs="9"')))}</xs:complexType></xs:element>`
    }),
    calls: [{ e0: ['v1', 'v59999'] }, { e0: ['none'] }]
  }),
  'occurrences without an end': () => ({
    files: wsdlOf({
      schema: `<xs:element name="echo"><xs:complexType>${sequence(`<xs:choice minOccurs="999999999" maxOccurs="999999999999999">${sequence(element('a', 'type="xs:string" minOccurs="999999999" maxOccurs="999999999"'), 'minOccurs="999999999" maxOccurs="999999999"')}</xs:choice>`, 'minOccurs="999999999" maxOccurs="unbounded"')}</xs:complexType></xs:element>`
    }),
    calls: [{}, { a: ['x'] }, { a: Array.from({ length: 5_000 }, () => 'x') }]
  }),
  'choices in choices, each with 100 elements': () => ({
    files: wsdlOf({
      schema: `<xs:element name="echo"><xs:complexType>${times(40, (n) => `<xs:choice maxOccurs="unbounded">${times(100, (m) => element(`e${n}x${m}`, 'type="xs:string" minOccurs="0" maxOccurs="unbounded"'))}`)}${times(40, () => '</xs:choice>')}</xs:complexType></xs:element>`
    }),
    calls: [
      Object.fromEntries(Array.from({ length: 4_000 }, (_, n) => [`e${Math.floor(n / 100)}x${n % 100}`, ['x', 'y']])),
      { e39x99: Array.from({ length: 10_000 }, () => 'x'), e0x0: ['x'] }
    ]
  }),
  'elements within each other, 3,000 deep': () => ({
    files: wsdlOf({
      schema: `${times(1_500, () => '<xs:element name="echo"><xs:complexType>')}${times(1_500, () => '</xs:complexType></xs:element>')}`
    }),
    refused: /nests too deeply/
  }),
  'types that are empty and open, each within the next': () => ({
    files: ofType(
      't:T',
      complex(
        'T',
        sequence(
          element('t', 'type="t:T" minOccurs="0"') + element('u', 'type="t:T" minOccurs="0" maxOccurs="unbounded"')
        )
      )
    ),
    calls: [JSON.parse(`{"it":${'{"t":'.repeat(60)}{}${'}'.repeat(60)}}`) as object]
  }),
  'a document type with entities': () => ({
    files: wsdlOf({}).replace('?>', '?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]>'),
    refused: /DOCTYPE/
  }),
  '8,000 operations, bound at 3,000 ports': () => {
    const names = Array.from({ length: 8_000 }, (_, n) => `o${n}`)
    const one = wsdlOf({
      schema: echo('xs:string'),
      operations: Object.fromEntries(names.map((name) => [name, ['echo', 'echo']]))
    })
    return {
      files: one.replace(
        /<wsdl:port .*<\/wsdl:port>/s,
        times(3_000, (n) => `<wsdl:port name="Q${n}" binding="t:B"><soap:address location="/svc"/></wsdl:port>`)
      ),
      refused: /more than 1000000 parts/
    }
  },
  '1,500 operations with 2,000 parts each': () => ({
    files: wsdlOf({
      schema: echo('xs:string'),
      rest: `<wsdl:message name="echo"><wsdl:part name="body" element="t:echo"/>${times(2_000, (n) => `<wsdl:part name="h${n}" type="xs:string"/>`)}</wsdl:message>
        <wsdl:portType name="P">${times(1_500, (n) => `<wsdl:operation name="o${n}"><wsdl:input message="t:echo"/></wsdl:operation>`)}</wsdl:portType>
        <wsdl:binding name="B" type="t:P"><soap:binding transport="http://schemas.xmlsoap.org/soap/http"/>${times(1_500, (n) => `<wsdl:operation name="o${n}"><soap:operation soapAction=""/><wsdl:input><soap:body use="literal"/></wsdl:input></wsdl:operation>`)}</wsdl:binding>
        <wsdl:service name="S"><wsdl:port name="Q" binding="t:B"><soap:address location="/svc"/></wsdl:port></wsdl:service>`
    }),
    refused: /more than 1000000 parts/
  }),
  'arrays of arrays of arrays': () => ({
    files: wsdlOf({
      schema: `<xs:import namespace="http://schemas.xmlsoap.org/soap/encoding/"/>${times(3_000, (n) => complex(`A${n}`, `<xs:complexContent><xs:restriction base="t:A${n + 1}"/></xs:complexContent>`))}${complex('A3000', `<xs:complexContent><xs:restriction base="e:Array" xmlns:e="http://schemas.xmlsoap.org/soap/encoding/"><xs:attribute ref="e:arrayType" wsdl:arrayType="xs:int${'[]'.repeat(20_000)}"/></xs:restriction></xs:complexContent>`)}${echo('t:A0')}`
    }),
    refused: /more than 100 steps/
  }),
  'an array of 20,000 dimensions': () => ({
    files: wsdlOf({
      schema: `${complex('A', `<xs:complexContent><xs:restriction base="e:Array" xmlns:e="http://schemas.xmlsoap.org/soap/encoding/"><xs:attribute ref="e:arrayType" wsdl:arrayType="xs:int${'[,,,]'.repeat(5_000)}"/></xs:restriction></xs:complexContent>`)}${echo('t:A')}`
    }),
    refused: /nested too deeply/
  }),
  'files that include each other': () => ({
    files: {
      '/svc?wsdl': wsdlOf({
        types: `<xs:schema targetNamespace="urn:t"><xs:include schemaLocation="/a.xsd"/>${echo('t:T')}</xs:schema>`
      }),
      '/a.xsd': `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:include schemaLocation="/b.xsd"/></xs:schema>`,
      '/b.xsd': `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:include schemaLocation="/a.xsd"/><xs:include schemaLocation="/b.xsd"/>${complex('T', sequence(element('x')))}</xs:schema>`
    },
    calls: [{ it: { x: 'y' } }]
  }),
  'a schema taken by 5,000 namespaces': () => ({
    files: {
      '/svc?wsdl': wsdlOf({
        types: `<xs:schema targetNamespace="urn:t">${echo('xs:string')}</xs:schema>${times(5_000, (n) => `<xs:schema targetNamespace="urn:t${n}"><xs:include schemaLocation="/a.xsd"/></xs:schema>`)}`
      }),
      '/a.xsd': `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">${times(10_000, (n) => element(`e${n}`))}</xs:schema>`
    },
    refused: /more than 50000 definitions|took (?:longer|more) than/
  }),
  'a default of 40,000 characters for each of 500 elements': () => ({
    files: wsdlOf({
      schema: `<xs:element name="echo"><xs:complexType>${sequence(element('r', 'type="t:R" minOccurs="0" maxOccurs="unbounded"'))}</xs:complexType></xs:element>${complex('R', sequence(times(50, (n) => element(`d${n}`, `type="xs:string" fixed="${LONG}"`))))}`
    }),
    calls: [{ r: Array.from({ length: 10_000 }, () => ({})) }]
  }),
  'a type of 5,000 arrays, in a list': () => ({
    files: wsdlOf({
      schema: `<xs:element name="echo"><xs:complexType>${sequence(element('r', 'type="t:R" minOccurs="0" maxOccurs="unbounded"'))}</xs:complexType></xs:element>${complex('R', sequence(times(5_000, (n) => element(`d${n}`, 'type="xs:string" minOccurs="0" maxOccurs="unbounded"'))))}`
    }),
    calls: [{ r: Array.from({ length: 20_000 }, () => ({})) }]
  }),
  ...Object.fromEntries(
    ['(a|a)*b', '(a+)+$', '\\s*\\s*\\s*\\s*\\s*\\s*\\s*\\s*x', '((a*)*)*b', '([a-z]+)*[0-9]', '(a?){900}a{900}'].map(
      (pattern) => [
        `the pattern ${pattern}`,
        (): HostileWsdl => ({
          files: ofType('t:P', patterned(pattern)),
          calls: [{ it: LONG }, { it: `${LONG}!` }, { it: ' '.repeat(40_000) }]
        })
      ]
    )
  ),
  'a pattern that is too large': () => ({
    files: ofType('t:P', patterned('(\\d{1,99}){1,99}')),
    warning: /\(\\\\d\{1,99\}\)\{1,99\}.*repeats too often/,
    calls: [{ it: '1'.repeat(40_000) }]
  }),
  '3,000 patterns of 900 steps': () => ({
    files: wsdlOf({
      schema: `<xs:element name="echo"><xs:complexType>${sequence(times(3_000, (n) => `<xs:element name="e${n}" minOccurs="0"><xs:simpleType><xs:restriction base="xs:string"><xs:pattern value="${n}x{0,900}"/></xs:restriction></xs:simpleType></xs:element>`))}</xs:complexType></xs:element>`
    }),
    warning: /together are too large/,
    calls: [Object.fromEntries(Array.from({ length: 3_000 }, (_, n) => [`e${n}`, `${n}xx`]))]
  }),
  'a document of 5 MB with one tag open': () => ({
    files: `<wsdl:definitions xmlns:wsdl="http://schemas.xmlsoap.org/wsdl/"${' a="b"'.repeat(800_000)}`,
    refused: /tag that is too long/
  }),
  '300,000 elements of as many names, in the documentation': () => ({
    files: wsdlOf({
      schema: `${echo('xs:string')}<xs:annotation><xs:documentation>${times(300_000, (n) => `<${name(n)}/>`)}</xs:documentation></xs:annotation>`
    }),
    calls: [{ it: 'x' }]
  }),
  'attributes of a namespace each': () => ({
    files: wsdlOf({
      schema:
        echo('xs:string') + times(20_000, (n) => `<xs:element xmlns:p${n}="urn:p${n}" name="e${n}" type="p${n}:t"/>`)
    })
  })
}
