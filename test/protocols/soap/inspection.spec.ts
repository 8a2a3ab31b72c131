import assert from 'node:assert/strict'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { OPERATIONS_MAX } from '../../../lib/base/limits/names.ts'
import { WSDL_BYTES_MAX, WSDL_FILES_MAX } from '../../../lib/base/limits/soap.ts'
import type { Inspection } from '../../../lib/interface/adapter.ts'
import { soapFactory } from '../../../protocols/soap/soap-factory.ts'
import { FOREVER } from '../../helpers/adapter-bench.ts'
import { answering, type Behaviour, scriptedUpstream } from '../../helpers/scripted-upstream.ts'
import { assertXml, rpc, serving, soapBench, wsdlOf, XML } from './soap-kit.ts'

const text = (name: string) => `<xs:element name="${name}" type="xs:string"/>`
const schemaFile = (content: string, attributes = 'targetNamespace="urn:t" elementFormDefault="qualified"') =>
  `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:t="urn:t" xmlns:o="urn:o" ${attributes}>${content}</xs:schema>`

async function inspect(behaviour: Behaviour): Promise<Inspection> {
  const upstream = await scriptedUpstream(behaviour)
  try {
    return await soapFactory.inspect({ endpoint: `${upstream.url}/svc?wsdl` }, FOREVER)
  } finally {
    await upstream.close()
  }
}

const inspectWsdl = (wsdl: string) => inspect(serving({ '/svc?wsdl': wsdl }))

describe('SOAP registration', () => {
  const broken: ReadonlyArray<readonly [what: string, behaviour: Behaviour, says: RegExp]> = [
    [
      'a login',
      answering(401, {}, ''),
      /svc\?wsdl responds with HTTP 401: it wants a login\. .*--auth-file.*--wsdl-file/
    ],
    ['nothing there', answering(404, {}, ''), /HTTP 404.*usually ends with \?wsdl/],
    ['an error', answering(500, {}, ''), /HTTP 500 instead of a WSDL/],
    [
      'an HTML page',
      answering(200, { 'content-type': 'text/html' }, '<!doctype html><p>Hi<br></p>'),
      /is an HTML page, not a WSDL.*--auth-file/
    ],
    ['an XHTML page', answering(200, XML, '<html xmlns="http://www.w3.org/1999/xhtml"/>'), /HTML page, not a WSDL/],
    ['JSON', answering(200, {}, '{"openapi":"3.1.0"}'), /is not XML/],
    ['nothing', answering(200, {}, ''), /is not XML/],
    ['WSDL 2.0', answering(200, XML, '<description xmlns="http://www.w3.org/ns/wsdl"/>'), /WSDL 2\.0/],
    [
      'a document type',
      answering(200, XML, `<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>${wsdlOf({})}`),
      /DOCTYPE/
    ],
    ['no binding', serving({ '/svc?wsdl': wsdlOf({ rest: '<wsdl:portType name="P"/>' }) }), /no SOAP binding/],
    [
      'no operations',
      serving({ '/svc?wsdl': wsdlOf({ operations: {} }) }),
      /called\. Its bindings have no operations\./
    ],
    ['a missing element', serving({ '/svc?wsdl': wsdlOf({ schema: '' }) }), /element \{urn:t\}echo is not defined/]
  ]
  for (const [what, behaviour, says] of broken) {
    it(`reports ${what} to the provider`, async () => {
      await assert.rejects(inspect(behaviour), { code: 'invalid_request', message: says })
    })
  }

  it('names an operation that the binding lacks, unless another port has it', async () => {
    const schema = '<xs:element name="echo" type="xs:int"/><xs:element name="note" type="xs:int"/>'
    const whole = wsdlOf({ schema, operations: { echo: ['echo', 'echo'], note: ['note', 'note'] }, address: '/svc' })
    const bound = /<wsdl:operation name="note"><soap:operation.*?<\/wsdl:operation>/s
    const partial = whole.replace(bound, '')
    assert.deepEqual((await inspect(serving({ '/svc?wsdl': partial }))).warnings, [
      'Operation note is left out: the binding B does not have it.'
    ])
    const binding = /<wsdl:binding .*<\/wsdl:binding>/s
    const [other = ''] = binding.exec(whole) ?? []
    const two = partial
      .replace('<wsdl:binding ', `${other.replace('name="B"', 'name="B2"')}<wsdl:binding `)
      .replace(
        '<wsdl:port ',
        '<wsdl:port name="Q2" binding="t:B2"><soap:address location="/svc"/></wsdl:port><wsdl:port '
      )
    const { warnings, description } = await inspect(serving({ '/svc?wsdl': two }))
    assert.deepEqual(warnings, [])
    assert.deepEqual(description.operations.map(({ name }) => name).toSorted(), ['echo', 'note'])
  })

  it('names a port whose binding is defined nowhere', async () => {
    const ports = `<wsdl:port name="Lost" binding="t:Nowhere"/><wsdl:port name="Get" binding="t:Http"/>`
    const http = '<wsdl:binding name="Http" type="t:P"/>'
    const wsdl = rpc('literal')
      .replace('</wsdl:service>', `${ports}</wsdl:service>`)
      .replace('<wsdl:service ', `${http}<wsdl:service `)
    assert.deepEqual((await inspectWsdl(wsdl)).warnings, [
      'Port Lost is left out: its binding {urn:t}Nowhere is not defined (is an import missing?).'
    ])
  })

  it('omits operations that it cannot call, and offers the rest', async () => {
    const both = rpc('literal').replace(
      '</wsdl:binding>',
      `<wsdl:operation name="sub"><wsdl:input><soap:body use="encoded"/></wsdl:input></wsdl:operation>
       <wsdl:operation name="gone"><wsdl:input><soap:body use="literal"/></wsdl:input></wsdl:operation></wsdl:binding>`
    )
    const wsdl = both.replace(
      '</wsdl:portType>',
      '<wsdl:operation name="sub"><wsdl:input message="t:in"/></wsdl:operation></wsdl:portType>'
    )
    const { description, warnings } = await inspectWsdl(wsdl)
    assert.deepEqual(
      description.operations.map(({ name }) => name),
      ['add', 'sub']
    )
    assert.match(warnings.join('\n'), /gone is left out: its port type does not have it/)
  })

  it('uses the literal port if another one is encoded', async () => {
    const encoded =
      '<wsdl:binding name="E" type="t:P"><soap:binding style="rpc"/><wsdl:operation name="add"><wsdl:input><soap:body use="encoded"/></wsdl:input></wsdl:operation></wsdl:binding>'
    const wsdl = rpc('literal')
      .replace('<wsdl:binding', `${encoded}<wsdl:binding`)
      .replace('<wsdl:port ', '<wsdl:port name="E" binding="t:E"/><wsdl:port ')
    assert.deepEqual((await inspectWsdl(wsdl)).warnings, [])
  })

  it('offers an operation of SOAP 1.1 and 1.2 once, and qualifies those of two ports', async () => {
    const port = (name: string, type: string, soap: string) =>
      `<wsdl:binding name="${name}" type="t:${type}"><${soap}:binding transport="http://schemas.xmlsoap.org/soap/http"/>
        <wsdl:operation name="echo"><wsdl:input><${soap}:body use="literal"/></wsdl:input><wsdl:output><${soap}:body use="literal"/></wsdl:output></wsdl:operation></wsdl:binding>`
    const portType = (name: string) =>
      `<wsdl:portType name="${name}"><wsdl:operation name="echo"><wsdl:input message="t:m"/><wsdl:output message="t:m"/></wsdl:operation></wsdl:portType>`
    const rest = (types: string[]) =>
      `<wsdl:message name="m"><wsdl:part name="p" element="t:echo"/></wsdl:message>${portType('A')}${portType('B')}
       ${port('one', types[0] ?? '', 'soap')}${port('two', types[1] ?? '', 'soap12')}
       <wsdl:service name="S"><wsdl:port name="one" binding="t:one"/><wsdl:port name="two" binding="t:two"/></wsdl:service>`
    const same = await inspectWsdl(wsdlOf({ schema: text('echo'), rest: rest(['A', 'A']) }))
    assert.deepEqual(
      same.description.operations.map(({ name }) => name),
      ['echo']
    )
    await using bench = await soapBench(wsdlOf({ schema: text('echo'), rest: rest(['A', 'B']) }))
    assert.deepEqual(
      bench.inspection.description.operations.map(({ name }) => name),
      ['one.echo', 'two.echo']
    )
    await assert.rejects(bench.json({ operation: 'echo', echo: 'x' }), {
      code: 'invalid_request',
      message: /Call one of one\.echo, two\.echo/
    })
    assert.deepEqual(await bench.json({ operation: 'echo', port: 'two', echo: 'x' }), { echo: 'x' })
    assert.match(String(bench.upstream.received.at(-1)?.headers['content-type']), /^application\/soap\+xml/)
  })

  it('distinguishes overloads', async () => {
    const operation = (input: string) =>
      `<wsdl:operation name="find"><wsdl:input name="${input}" message="t:${input}"/></wsdl:operation>`
    const bound = (input: string) =>
      `<wsdl:operation name="find"><wsdl:input name="${input}"><soap:body use="literal"/></wsdl:input></wsdl:operation>`
    const rest = `<wsdl:message name="byId"><wsdl:part name="p" element="t:byId"/></wsdl:message><wsdl:message name="byName"><wsdl:part name="p" element="t:byName"/></wsdl:message>
      <wsdl:portType name="P">${operation('byId')}${operation('byName')}</wsdl:portType>
      <wsdl:binding name="B" type="t:P"><soap:binding/>${bound('byId')}${bound('byName')}</wsdl:binding>`
    const { description } = await inspectWsdl(wsdlOf({ schema: text('byId') + text('byName'), rest }))
    assert.deepEqual(
      description.operations.map(({ name, input }) => [name, Object.keys(input?.properties as object)]),
      [
        ['find', ['operation', 'byId']],
        ['find_2', ['operation', 'byName']]
      ]
    )
  })

  describe('of several files', () => {
    it('follows imports and includes, even in cycles, and adopts the including namespace', async () => {
      const types = `<xs:schema targetNamespace="urn:t" elementFormDefault="qualified"><xs:include schemaLocation="types/a.xsd"/></xs:schema>`
      await using bench = await soapBench({
        '/svc?wsdl': wsdlOf({ types }),
        '/types/a.xsd': schemaFile(
          `<xs:include schemaLocation="b.xsd"/><xs:import namespace="urn:o" schemaLocation="/o.xsd#here"/>
           <xs:element name="echo"><xs:complexType><xs:sequence><xs:element name="b" type="t:B"/><xs:element ref="o:other"/></xs:sequence></xs:complexType></xs:element>`
        ),
        '/types/b.xsd': schemaFile(
          '<xs:include schemaLocation="a.xsd"/><xs:complexType name="B"><xs:sequence><xs:element name="c" type="C"/></xs:sequence></xs:complexType><xs:simpleType name="C"><xs:restriction base="xs:int"/></xs:simpleType>',
          'elementFormDefault="qualified"'
        ),
        '/o.xsd': schemaFile(
          `<xs:import namespace="urn:t" schemaLocation="types/a.xsd"/>${text('other')}`,
          'targetNamespace="urn:o"'
        )
      })
      assert.deepEqual(bench.inspection.warnings, [])
      assert.deepEqual(await bench.json({ operation: 'echo', other: 'x', b: { c: 5 } }), { b: { c: 5 }, other: 'x' })
      assertXml(bench.sent()[0], '<t:echo><t:b><t:c>5</t:c></t:b><o:other xmlns:o="urn:o">x</o:other></t:echo>')
    })

    it('follows wsdl:import', async () => {
      const whole = wsdlOf({ schema: text('echo') })
      const [, types, messages, binding] =
        /(<wsdl:types>.*<\/wsdl:types>)(.*<\/wsdl:portType>)(.*)<\/wsdl:definitions>/s.exec(whole) ?? []
      const open = whole.slice(0, whole.indexOf('<wsdl:types>'))
      await using bench = await soapBench({
        '/svc?wsdl': `${open}<wsdl:import namespace="urn:t" location="abstract.wsdl"/>${binding}</wsdl:definitions>`,
        '/abstract.wsdl': `${open}<wsdl:import namespace="urn:t" location="svc?wsdl"/>${types}${messages}</wsdl:definitions>`
      })
      assert.deepEqual(await bench.json({ operation: 'echo', echo: 'x' }), { echo: 'x' })
    })

    it('never requests another origin, and reports the consequences', async () => {
      const other = await scriptedUpstream(answering(200, XML, schemaFile(text('x'), 'targetNamespace="urn:o"')))
      const types = `<xs:schema targetNamespace="urn:t" elementFormDefault="qualified" xmlns:o="urn:o">
        <xs:import namespace="urn:o" schemaLocation="${other.url}/o.xsd"/><xs:import namespace="http://www.w3.org/XML/1998/namespace" schemaLocation="http://www.w3.org/2001/xml.xsd"/>
        <xs:element name="echo"><xs:complexType><xs:sequence><xs:element name="a" type="o:A"/><xs:element ref="o:x"/></xs:sequence></xs:complexType></xs:element></xs:schema>`
      await using bench = await soapBench(wsdlOf({ types }))
      await other.close()
      assert.equal(other.received.length, 0)
      const warnings = bench.inspection.warnings.join('\n')
      assert.match(
        warnings,
        /o\.xsd, which .*svc\?wsdl imports, was not read: it is not at the WSDL's own origin .*--wsdl-origin http:\/\/127\.0\.0\.1:\d+,/
      )
      assert.match(warnings, /type o:A, which is defined nowhere/)
      assert.match(warnings, /element o:x, which is defined nowhere/)
      assert.doesNotMatch(warnings, /xml\.xsd/)
      const json = { a: { $any: [{ b: '1' }] }, $any: [{ x: '2' }] }
      assert.deepEqual(await bench.json({ operation: 'echo', ...json }), { a: json.a, $any: [{ x: '2' }] })
    })

    it('continues without a missing or broken file', async () => {
      const types = `<xs:schema targetNamespace="urn:t"><xs:import namespace="urn:o" schemaLocation="gone.xsd"/><xs:import namespace="urn:p" schemaLocation="bad.xsd"/>${text('echo')}</xs:schema>`
      const { warnings } = await inspect(serving({ '/svc?wsdl': wsdlOf({ types }), '/bad.xsd': '<a><b></a>' }))
      assert.match(
        warnings.join('\n'),
        /gone\.xsd is imported, but could not be read: .*404[^]*import could not be used: .*bad\.xsd is not well-formed/
      )
    })

    it('stops at too many files, and at too many bytes', async () => {
      const types = (content: string) => `<xs:schema targetNamespace="urn:t">${content}${text('echo')}</xs:schema>`
      let asked = 0
      const endless: Behaviour = (response, received) => {
        asked++
        const include = `<xs:include schemaLocation="/n${asked}.xsd"/>`
        const body = received.target === '/svc?wsdl' ? wsdlOf({ types: types(include) }) : schemaFile(include)
        answering(200, XML, body)(response, received)
      }
      await assert.rejects(inspect(endless), { code: 'invalid_request', message: /imports more than/ })
      assert.equal(asked, WSDL_FILES_MAX)
      const large = serving({
        '/svc?wsdl': wsdlOf({ types: types('<xs:include schemaLocation="/large.xsd"/>') }),
        '/large.xsd': schemaFile(`<!-- ${'x'.repeat(WSDL_BYTES_MAX)} -->`)
      })
      await assert.rejects(inspect(large), { code: 'invalid_request', message: /larger than/ })
    })
  })

  describe('of a schema that contradicts itself', () => {
    const wsdl = (content: string) => inspectWsdl(wsdlOf({ schema: content }))
    const echo = (type: string) =>
      `<xs:element name="echo"><xs:complexType><xs:sequence><xs:element name="a" type="${type}"/></xs:sequence></xs:complexType></xs:element>`

    it('terminates at types derived from themselves', async () => {
      const derived = (name: string, base: string, kind: string) =>
        `<xs:complexType name="${name}"><xs:${kind}><xs:extension base="t:${base}"/></xs:${kind}></xs:complexType>`
      for (const kind of ['complexContent', 'simpleContent']) {
        const { warnings } = await wsdl(echo('t:A') + derived('A', 'B', kind) + derived('B', 'A', kind))
        assert.match(warnings.join(), /derived from itself/)
      }
      await wsdl(`${echo('t:S')}<xs:simpleType name="S"><xs:restriction base="t:S"/></xs:simpleType>`)
      await wsdl(`${echo('t:S')}<xs:simpleType name="S"><xs:union memberTypes="t:S t:S"/></xs:simpleType>`)
      await wsdl('<xs:element name="echo" substitutionGroup="t:echo"/>')
    })

    it('terminates at groups within themselves', async () => {
      const { warnings } = await wsdl(
        `<xs:element name="echo"><xs:complexType><xs:group ref="t:g"/><xs:attributeGroup ref="t:ag"/></xs:complexType></xs:element>
         <xs:group name="g"><xs:sequence><xs:group ref="t:g"/></xs:sequence></xs:group><xs:attributeGroup name="ag"><xs:attributeGroup ref="t:ag"/></xs:attributeGroup>`
      )
      assert.match(warnings.join(), /contains itself/)
    })

    it('is not slowed down by groups that double', async () => {
      const groups = Array.from(
        { length: 60 },
        (_, i) =>
          `<xs:group name="g${i}"><xs:sequence minOccurs="0"><xs:group ref="t:g${i + 1}"/><xs:group ref="t:g${i + 1}"/></xs:sequence></xs:group>`
      )
      await using bench = await soapBench(
        wsdlOf({
          schema: `<xs:element name="echo"><xs:complexType><xs:group ref="t:g0"/></xs:complexType></xs:element>${groups.join('')}
            <xs:group name="g60"><xs:sequence minOccurs="0"><xs:element name="a" type="xs:string"/></xs:sequence></xs:group>`
        })
      )
      assert.deepEqual(await bench.json({ operation: 'echo', a: ['x'] }), { a: ['x'] })
    })

    it('rejects an endless chain of types', async () => {
      const chain = Array.from(
        { length: 20_000 },
        (_, i) =>
          `<xs:complexType name="T${i}"><xs:complexContent><xs:extension base="t:T${i + 1}"/></xs:complexContent></xs:complexType>`
      )
      await assert.rejects(wsdl(echo('t:T0') + chain.join('')), { code: 'description_too_complex' })
    })

    it('accepts names with a meaning in JavaScript', async () => {
      await wsdl(
        `${echo('t:__proto__')}<xs:complexType name="__proto__"><xs:sequence><xs:element name="constructor" type="t:hasOwnProperty"/></xs:sequence></xs:complexType>`
      )
      await assert.rejects(inspectWsdl(wsdlOf({ more: '<constructor/>' })), { code: 'invalid_request' })
      await assert.rejects(inspectWsdl(wsdlOf({ more: '<__proto__/>' })), { code: 'invalid_request' })
    })
  })

  describe('describes', () => {
    const SCHEMA = `
      <xs:element name="echo"><xs:annotation><xs:documentation>ignored</xs:documentation></xs:annotation><xs:complexType><xs:sequence>
        <xs:element name="id" type="t:Id"><xs:annotation><xs:documentation> The
          id. </xs:documentation></xs:annotation></xs:element>
        <xs:element name="n" type="xs:long" minOccurs="0" nillable="true"/>
        <xs:element name="pet" type="t:Pet" minOccurs="0" maxOccurs="unbounded"/>
      </xs:sequence><xs:attribute name="v" type="xs:boolean" use="required"/></xs:complexType></xs:element>
      <xs:simpleType name="Id"><xs:restriction base="xs:string"><xs:maxLength value="8"/></xs:restriction></xs:simpleType>
      <xs:complexType name="Pet"><xs:sequence><xs:element name="friend" type="t:Pet" minOccurs="0"/></xs:sequence></xs:complexType>
      <xs:complexType name="Dog"><xs:complexContent><xs:extension base="t:Pet"><xs:sequence><xs:element name="bark" type="xs:int"/></xs:sequence></xs:extension></xs:complexContent></xs:complexType>`

    it('input and output by JSON Schema, recursive types by reference', async () => {
      const { description } = await inspectWsdl(wsdlOf({ schema: SCHEMA }))
      const [echo] = description.operations
      const pet = { type: 'object', properties: { friend: { $ref: '#/$defs/Pet' } } }
      const dog = {
        type: 'object',
        properties: {
          $type: { const: 'Dog' },
          friend: { $ref: '#/$defs/Pet' },
          bark: { type: 'integer', minimum: -2147483648, maximum: 2147483647 }
        },
        required: ['$type', 'bark']
      }
      const closed = { additionalProperties: false }
      const Id = { type: 'string', maxLength: 8 }
      const properties = {
        id: { $ref: '#/$defs/Id', description: 'The id.' },
        n: { anyOf: [{ type: ['integer', 'string'], pattern: '^[+-]?\\d+$' }, { type: 'null' }] },
        pet: { type: 'array', items: { $ref: '#/$defs/Pet' } },
        v: { type: 'boolean' }
      }
      const { long } = (echo?.input ?? assert.fail())['$defs'] as Record<string, unknown>
      const n = { anyOf: [{ $ref: '#/$defs/long' }, { type: 'null' }] }
      assert.deepEqual(JSON.parse(JSON.stringify(echo)), {
        name: 'echo',
        input: {
          type: 'object',
          properties: { operation: { const: 'echo' }, ...properties, n },
          required: ['operation', 'id', 'v'],
          ...closed,
          $defs: {
            Id,
            long: JSON.parse(JSON.stringify(long)),
            Pet: { anyOf: [{ ...pet, ...closed }, { $ref: '#/$defs/Dog.' }] },
            'Dog.': { ...dog, ...closed }
          }
        },
        output: {
          type: 'object',
          properties,
          required: ['id', 'pet', 'v'],
          $defs: { Id, Pet: { anyOf: [pet, { $ref: '#/$defs/Dog.' }] }, 'Dog.': dog }
        }
      })
    })

    it('types that operations share once, where all together are large', async () => {
      const fields = Array.from({ length: 100 }, (_, i) => `<xs:element name="field${i}" type="xs:dateTime"/>`)
      const wide = `<xs:complexType name="Wide"><xs:sequence>${fields.join('')}</xs:sequence></xs:complexType>`
      const names = Array.from({ length: 200 }, (_, i) => `operation${i}`)
      const elements = names.map(
        (name) =>
          `<xs:element name="${name}"><xs:complexType><xs:sequence><xs:element name="wide" type="t:Wide"/></xs:sequence></xs:complexType></xs:element>`
      )
      const { description, warnings } = await inspectWsdl(
        wsdlOf({
          schema: wide + elements.join(''),
          operations: Object.fromEntries(names.map((name) => [name, [name, name]]))
        })
      )
      const { operations, definitions = {} } = description
      assert.deepEqual(Object.keys(definitions), ['Wide', 'Wide_2'])
      assert(JSON.stringify(description).length < 20 * JSON.stringify(definitions).length)
      // Ajv compiles the shared types for each operation again.
      for (const { name, input = {}, output } of [operations.slice(0, 3), operations.slice(-2)].flat()) {
        const check = new Ajv2020({ strict: false }).compile({ ...input, $defs: definitions })
        assert(
          check({
            operation: name,
            wide: Object.fromEntries(fields.map((_, i) => [`field${i}`, '2026-01-02T03:04:05Z']))
          })
        )
        assert(!check({ operation: name, wide: { other: 1 } }))
        assert.equal(typeof output, 'object')
      }
      assert.deepEqual(warnings, [])
    })

    it('no more operations than a listing allows', async () => {
      const names = Array.from({ length: OPERATIONS_MAX + 1 }, (_, i) => `o${i}`)
      const { description, warnings } = await inspectWsdl(
        wsdlOf({
          schema: text('echo'),
          operations: Object.fromEntries(names.map((name) => [name, ['echo', undefined]]))
        })
      )
      assert.equal(description.operations.length, OPERATIONS_MAX)
      assert.match(warnings.join(), /Only the first/)
    })
  })
})
