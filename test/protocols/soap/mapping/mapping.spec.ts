import assert from 'node:assert/strict'
import { assertXml, reversed, soapBench, wsdlOf } from '../soap-kit.ts'

interface Case {
  readonly what: string
  /** Declares the element `echo`. */
  readonly schema: string
  readonly json: Readonly<Record<string, unknown>>
  readonly xml: string
  /** The JSON read back from the same XML, if it differs. */
  readonly back?: unknown
}

const sequence = (content: string) =>
  `<xs:element name="echo"><xs:complexType><xs:sequence>${content}</xs:sequence></xs:complexType></xs:element>`
const complex = (content: string) => `<xs:element name="echo"><xs:complexType>${content}</xs:complexType></xs:element>`

/** One case per feature of a schema, in both directions: the JSON is sent with reversed members, and must come back. */
const CASES: readonly Case[] = [
  {
    what: 'elements in the order of the schema',
    schema: sequence(
      '<xs:element name="a" type="xs:string"/><xs:element name="b" type="xs:int"/><xs:element name="c" type="xs:boolean"/>'
    ),
    json: { a: 'x', b: -3, c: true },
    xml: '<t:echo><t:a>x</t:a><t:b>-3</t:b><t:c>true</t:c></t:echo>'
  },
  {
    what: 'a fixed value, which nobody has to give',
    schema: sequence(
      '<xs:element name="a" type="xs:string"/><xs:element name="v" type="xs:decimal" fixed="1.0"/><xs:element name="o" type="xs:int" fixed="3" minOccurs="0"/>'
    ),
    json: { a: 'x' },
    xml: '<t:echo><t:a>x</t:a><t:v>1.0</t:v></t:echo>',
    back: { a: 'x', v: 1 }
  },
  {
    what: 'a fixed value that is given, however it is spelt',
    schema: sequence(
      '<xs:choice><xs:element name="a" type="xs:string"/><xs:element name="b" type="xs:string"/></xs:choice><xs:element name="v" type="xs:decimal" fixed="1.0"/>'
    ),
    json: { a: 'x', v: 1 },
    xml: '<t:echo><t:a>x</t:a><t:v>1</t:v></t:echo>'
  },
  {
    what: 'a repeated element as an array, also with one item',
    schema: sequence(
      '<xs:element name="a" type="xs:int" maxOccurs="unbounded"/><xs:element name="b" type="xs:string" minOccurs="0" maxOccurs="3"/>'
    ),
    json: { a: [1], b: ['x', 'y'] },
    xml: '<t:echo><t:a>1</t:a><t:b>x</t:b><t:b>y</t:b></t:echo>'
  },
  {
    what: 'a repeated element that is absent as an empty array',
    schema: sequence('<xs:element name="a" type="xs:int" minOccurs="0" maxOccurs="unbounded"/>'),
    json: {},
    xml: '<t:echo/>',
    back: { a: [] }
  },
  {
    what: 'a lone value for a repeated element',
    schema: sequence('<xs:element name="a" type="xs:int" maxOccurs="unbounded"/>'),
    json: { a: 7 },
    xml: '<t:echo><t:a>7</t:a></t:echo>',
    back: { a: [7] }
  },
  {
    what: 'nested anonymous types',
    schema: sequence(
      '<xs:element name="p"><xs:complexType><xs:sequence><xs:element name="q"><xs:complexType><xs:sequence><xs:element name="r" type="xs:string"/></xs:sequence></xs:complexType></xs:element></xs:sequence></xs:complexType></xs:element>'
    ),
    json: { p: { q: { r: '' } } },
    xml: '<t:echo><t:p><t:q><t:r></t:r></t:q></t:p></t:echo>'
  },
  {
    what: 'xs:all in its declared order',
    schema: complex(
      '<xs:all><xs:element name="a" type="xs:string" minOccurs="0"/><xs:element name="b" type="xs:string"/></xs:all>'
    ),
    json: { a: '1', b: '2' },
    xml: '<t:echo><t:a>1</t:a><t:b>2</t:b></t:echo>'
  },
  {
    what: 'the branch of a choice that is given',
    schema: complex(
      '<xs:choice><xs:element name="a" type="xs:string"/><xs:sequence><xs:element name="b" type="xs:string"/><xs:element name="c" type="xs:string"/></xs:sequence></xs:choice>'
    ),
    json: { b: '1', c: '2' },
    xml: '<t:echo><t:b>1</t:b><t:c>2</t:c></t:echo>'
  },
  {
    what: 'the branch of a choice that has most of what is given',
    schema: complex(
      '<xs:choice><xs:element name="a" type="xs:string"/><xs:sequence><xs:element name="a" type="xs:string"/><xs:element name="c" type="xs:string"/></xs:sequence></xs:choice>'
    ),
    json: { a: '1', c: '2' },
    xml: '<t:echo><t:a>1</t:a><t:c>2</t:c></t:echo>'
  },
  {
    what: 'a repeated group in rounds',
    schema: complex(
      '<xs:sequence maxOccurs="unbounded"><xs:element name="k" type="xs:string"/><xs:element name="v" type="xs:int"/></xs:sequence>'
    ),
    json: { k: ['a', 'b'], v: [1, 2] },
    xml: '<t:echo><t:k>a</t:k><t:v>1</t:v><t:k>b</t:k><t:v>2</t:v></t:echo>'
  },
  {
    what: 'the same element twice in a sequence',
    schema: sequence(
      '<xs:element name="a" type="xs:string"/><xs:element name="b" type="xs:string"/><xs:element name="a" type="xs:string"/>'
    ),
    json: { a: ['1', '3'], b: '2' },
    xml: '<t:echo><t:a>1</t:a><t:b>2</t:b><t:a>3</t:a></t:echo>'
  },
  {
    what: 'references to elements, groups and attribute groups',
    schema: `${complex('<xs:sequence><xs:element ref="t:other" maxOccurs="2"/><xs:group ref="t:g"/></xs:sequence><xs:attributeGroup ref="t:ag"/><xs:attribute ref="t:glob"/>')}
      <xs:element name="other" type="xs:string"/>
      <xs:group name="g"><xs:sequence><xs:element name="inGroup" type="xs:string"/></xs:sequence></xs:group>
      <xs:attributeGroup name="ag"><xs:attribute name="x" type="xs:int"/><xs:attributeGroup ref="t:ag2"/></xs:attributeGroup>
      <xs:attributeGroup name="ag2"><xs:attribute name="y"/></xs:attributeGroup>
      <xs:attribute name="glob" type="xs:boolean"/>`,
    json: { other: ['1', '2'], inGroup: 'g', x: 5, y: 'z', glob: false },
    xml: '<t:echo x="5" y="z" t:glob="false"><t:other>1</t:other><t:other>2</t:other><t:inGroup>g</t:inGroup></t:echo>'
  },
  {
    what: 'an extension after what it extends, with its attributes',
    schema: `<xs:element name="echo" type="t:C"/>
      <xs:complexType name="A"><xs:sequence><xs:element name="a" type="xs:string"/></xs:sequence><xs:attribute name="n" type="xs:int"/></xs:complexType>
      <xs:complexType name="B"><xs:complexContent><xs:extension base="t:A"><xs:sequence><xs:element name="b" type="xs:string"/></xs:sequence></xs:extension></xs:complexContent></xs:complexType>
      <xs:complexType name="C"><xs:complexContent><xs:extension base="t:B"><xs:sequence><xs:element name="c" type="xs:string"/></xs:sequence><xs:attribute name="m"/></xs:extension></xs:complexContent></xs:complexType>`,
    json: { a: '1', b: '2', c: '3', n: 4, m: '5' },
    xml: '<t:echo n="4" m="5"><t:a>1</t:a><t:b>2</t:b><t:c>3</t:c></t:echo>'
  },
  {
    what: 'a restriction that prohibits an attribute',
    schema: `<xs:element name="echo" type="t:R"/>
      <xs:complexType name="A"><xs:sequence><xs:element name="a" type="xs:string" minOccurs="0"/></xs:sequence><xs:attribute name="n"/><xs:attribute name="m"/></xs:complexType>
      <xs:complexType name="R"><xs:complexContent><xs:restriction base="t:A"><xs:sequence><xs:element name="a" type="xs:string"/></xs:sequence><xs:attribute name="n" use="prohibited"/></xs:restriction></xs:complexContent></xs:complexType>`,
    json: { a: '1', m: '2' },
    xml: '<t:echo m="2"><t:a>1</t:a></t:echo>'
  },
  {
    what: 'simple content with attributes as value',
    schema: `${sequence('<xs:element name="price" type="t:Price" maxOccurs="2"/>')}
      <xs:complexType name="Price"><xs:simpleContent><xs:extension base="xs:decimal"><xs:attribute name="currency" use="required"/></xs:extension></xs:simpleContent></xs:complexType>`,
    json: {
      price: [
        { value: 9.5, currency: 'EUR' },
        { value: '12345678901234567890.1', currency: 'USD' }
      ]
    },
    xml: '<t:echo><t:price currency="EUR">9.5</t:price><t:price currency="USD">12345678901234567890.1</t:price></t:echo>'
  },
  {
    what: 'a bare scalar for simple content with optional attributes',
    schema: sequence(
      '<xs:element name="p"><xs:complexType><xs:simpleContent><xs:extension base="xs:int"><xs:attribute name="u"/></xs:extension></xs:simpleContent></xs:complexType></xs:element>'
    ),
    json: { p: 3 },
    xml: '<t:echo><t:p>3</t:p></t:echo>',
    back: { p: { value: 3 } }
  },
  {
    what: 'attributes by @, where an element has the plain name',
    schema: complex(
      '<xs:sequence><xs:element name="id" type="xs:string"/></xs:sequence><xs:attribute name="id" type="xs:int"/><xs:attribute name="k"/>'
    ),
    json: { id: 'e', '@id': 1, '@k': 'x' },
    xml: '<t:echo id="1" k="x"><t:id>e</t:id></t:echo>',
    back: { id: 'e', '@id': 1, k: 'x' }
  },
  {
    what: 'a required attribute with a fixed value',
    schema: complex('<xs:attribute name="version" use="required" fixed="2.0"/>'),
    json: {},
    xml: '<t:echo version="2.0"/>',
    back: { version: '2.0' }
  },
  {
    what: 'null as xsi:nil, in arrays too, apart from empty and absent',
    schema: sequence(
      '<xs:element name="a" type="xs:int" nillable="true"/><xs:element name="b" type="xs:string" nillable="true" maxOccurs="3"/><xs:element name="c" type="xs:string" nillable="true" minOccurs="0"/>'
    ),
    json: { a: null, b: ['x', null, ''] },
    xml: '<t:echo><t:a xsi:nil="true"/><t:b>x</t:b><t:b xsi:nil="true"/><t:b></t:b></t:echo>'
  },
  {
    what: 'null for an optional element that is not nillable as absent',
    schema: sequence('<xs:element name="a" type="xs:int" minOccurs="0"/>'),
    json: { a: null },
    xml: '<t:echo/>',
    back: {}
  },
  {
    what: 'elements by their own form',
    schema: sequence(
      '<xs:element name="a" type="xs:string"/><xs:element name="b" type="xs:string" form="unqualified"/>'
    ),
    json: { a: '1', b: '2' },
    xml: '<t:echo><t:a>1</t:a><b>2</b></t:echo>'
  },
  {
    what: 'qualified attributes',
    schema: complex('<xs:attribute name="a" form="qualified"/><xs:attribute name="b"/><xs:attribute ref="xml:lang"/>'),
    json: { a: '1', b: '2', lang: 'de' },
    xml: '<t:echo t:a="1" b="2" xml:lang="de"/>'
  },
  {
    what: 'a recursive type',
    schema: `<xs:element name="echo" type="t:Node"/><xs:complexType name="Node"><xs:sequence><xs:element name="name" type="xs:string"/><xs:element name="child" type="t:Node" minOccurs="0" maxOccurs="unbounded"/></xs:sequence></xs:complexType>`,
    json: { name: 'a', child: [{ name: 'b', child: [{ name: 'c', child: [] }] }] },
    xml: '<t:echo><t:name>a</t:name><t:child><t:name>b</t:name><t:child><t:name>c</t:name></t:child></t:child></t:echo>'
  },
  {
    what: 'enumerations, lists and unions',
    schema: `${sequence('<xs:element name="color" type="t:Color"/><xs:element name="sizes" type="t:Sizes"/><xs:element name="either" type="t:Either" maxOccurs="2"/>')}
      <xs:simpleType name="Color"><xs:restriction base="xs:token"><xs:enumeration value="red"/><xs:enumeration value="dark blue"/></xs:restriction></xs:simpleType>
      <xs:simpleType name="Sizes"><xs:list itemType="xs:int"/></xs:simpleType>
      <xs:simpleType name="Either"><xs:union memberTypes="xs:int t:Color"/></xs:simpleType>`,
    json: { color: 'dark blue', sizes: [1, 2, 3], either: [5, 'red'] },
    xml: '<t:echo><t:color>dark blue</t:color><t:sizes>1 2 3</t:sizes><t:either>5</t:either><t:either>red</t:either></t:echo>'
  },
  {
    what: 'a derived type by $type',
    schema: `${sequence('<xs:element name="pet" type="t:Pet" maxOccurs="2"/>')}
      <xs:complexType name="Pet"><xs:sequence><xs:element name="name" type="xs:string"/></xs:sequence></xs:complexType>
      <xs:complexType name="Dog"><xs:complexContent><xs:extension base="t:Pet"><xs:sequence><xs:element name="bark" type="xs:int"/></xs:sequence></xs:extension></xs:complexContent></xs:complexType>`,
    json: { pet: [{ name: 'a' }, { $type: 'Dog', name: 'b', bark: 2 }] },
    xml: '<t:echo><t:pet><t:name>a</t:name></t:pet><t:pet xsi:type="t:Dog"><t:name>b</t:name><t:bark>2</t:bark></t:pet></t:echo>'
  },
  {
    what: 'members of a substitution group',
    schema: `${sequence('<xs:element ref="t:shape" maxOccurs="unbounded"/>')}
      <xs:element name="shape" abstract="true"/><xs:element name="circle" type="xs:int" substitutionGroup="t:shape"/><xs:element name="square" type="xs:string" substitutionGroup="t:shape"/>`,
    json: { circle: [1, 2], square: ['s'] },
    xml: '<t:echo><t:circle>1</t:circle><t:circle>2</t:circle><t:square>s</t:square></t:echo>'
  },
  {
    what: 'open content, typed where it is declared',
    schema: `${complex('<xs:sequence><xs:element name="a" type="xs:string"/><xs:any namespace="##any" processContents="lax" maxOccurs="unbounded"/></xs:sequence><xs:anyAttribute/>')}
      <xs:element name="known" type="xs:int"/>`,
    json: {
      a: '1',
      '@{urn:x}z': 'w',
      $any: [
        { '{urn:t}known': 5 },
        { '{urn:o}x': { '@p': 'q', $any: [{ y: 'text' }, { y: null }] } },
        { b: { '@c': 'd', value: 'e' } }
      ]
    },
    xml: '<t:echo xmlns:o="urn:o" xmlns:x="urn:x" x:z="w"><t:a>1</t:a><t:known>5</t:known><o:x p="q"><y>text</y><y xsi:nil="true"/></o:x><b c="d">e</b></t:echo>'
  },
  {
    what: 'open content of one namespace by local names',
    schema: complex(
      '<xs:sequence><xs:any namespace="##targetNamespace" minOccurs="0" maxOccurs="unbounded"/></xs:sequence>'
    ),
    json: { $any: [{ Name: 'Acme' }, { City: 'Bern' }] },
    xml: '<t:echo><t:Name>Acme</t:Name><t:City>Bern</t:City></t:echo>'
  },
  {
    what: 'xs:anyType with the kinds of JSON',
    schema: sequence('<xs:element name="v" type="xs:anyType" maxOccurs="5"/>'),
    json: { v: ['s', 5, true, 1.5, { '@a': 'b', $any: [{ c: 'd' }] }] },
    xml: '<t:echo><t:v xsi:type="xsd:string">s</t:v><t:v xsi:type="xsd:int">5</t:v><t:v xsi:type="xsd:boolean">true</t:v><t:v xsi:type="xsd:double">1.5</t:v><t:v a="b"><c>d</c></t:v></t:echo>'
  },
  {
    what: 'QNames by their namespace',
    schema: sequence('<xs:element name="q" type="xs:QName" maxOccurs="2"/>'),
    json: { q: ['{urn:t}x', 'plain'] },
    xml: '<t:echo><t:q>n0:x</t:q><t:q>plain</t:q></t:echo>'
  },
  {
    what: 'names that JavaScript has a meaning for',
    schema: sequence(
      '<xs:element name="__proto__" type="xs:string"/><xs:element name="constructor" type="xs:string" minOccurs="0"/><xs:element name="toString" type="xs:string"/>'
    ),
    json: JSON.parse('{"__proto__":"a","constructor":"b","toString":"c"}') as Record<string, unknown>,
    xml: '<t:echo><t:__proto__>a</t:__proto__><t:constructor>b</t:constructor><t:toString>c</t:toString></t:echo>'
  },
  {
    what: 'texts with markup, line ends and characters of any plane',
    schema: complex('<xs:sequence><xs:element name="a" type="xs:string"/></xs:sequence><xs:attribute name="b"/>'),
    json: { a: ' <a> & "b" ]]> \r\n\t😀 ', b: '<\'&"\n\t>' },
    xml: '<t:echo b="&lt;&#39;&amp;&quot;&#10;&#9;&gt;"><t:a> &lt;a> &amp; "b" ]]&gt; &#13;\n\t😀 </t:a></t:echo>'
  }
]

describe('SOAP mapping', () => {
  for (const { what, schema, json, xml, back } of CASES) {
    it(`writes and reads ${what}`, async () => {
      await using bench = await soapBench(wsdlOf({ schema }))
      const answer = await bench.json({ ...(reversed(json) as object), operation: 'echo' })
      assertXml(bench.sent()[0], xml)
      assert.deepEqual(answer, back ?? json)
      assert.deepEqual(bench.inspection.warnings, [])
    })
  }
})
