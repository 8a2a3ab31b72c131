import assert from 'node:assert/strict'
import { answering } from '../../../helpers/scripted-upstream.ts'
import { assertXml, envelope, soapBench, wsdlOf, XML } from '../soap-kit.ts'

const ENC = 'http://schemas.xmlsoap.org/soap/encoding/'
const APACHE = 'http://xml.apache.org/xml-soap'
const array = (name: string, type: string, content = '') =>
  `<xs:complexType name="${name}"><xs:complexContent><xs:restriction base="enc:Array">${content}<xs:attribute ref="enc:arrayType" wsdl:arrayType="${type}"/></xs:restriction></xs:complexContent></xs:complexType>`
const TYPES = `<xs:schema targetNamespace="urn:t" xmlns:enc="${ENC}">
  <xs:import namespace="${ENC}"/>
  <xs:import namespace="${APACHE}"/>
  <xs:complexType name="Person"><xs:all><xs:element name="name" type="xs:string"/><xs:element name="age" type="xs:int" nillable="true"/><xs:element name="boss" type="t:Person" minOccurs="0"/></xs:all></xs:complexType>
  <xs:complexType name="Chief"><xs:complexContent><xs:extension base="t:Person"><xs:sequence><xs:element name="car" type="enc:string"/></xs:sequence></xs:extension></xs:complexContent></xs:complexType>
  ${array('People', 't:Person[]')}
  ${array('Words', 'xs:string[]', '<xs:sequence><xs:element name="word" type="xs:string" minOccurs="0" maxOccurs="unbounded"/></xs:sequence>')}
  ${array('Grid', 'xs:int[,]')}
  ${array('Rows', 'xs:int[][]')}
</xs:schema>`

const PARTS =
  'person t:Person|people t:People|words t:Words|grid t:Grid|rows t:Rows|anything xs:anyType|note enc:string|map apache:Map'
const part = (text: string) => {
  const [name, type] = text.split(' ')
  return `<wsdl:part name="${name}" type="${type}"/>`
}

function encodedWsdl(soap: 'soap' | 'soap12' = 'soap', parts = PARTS): string {
  const body = `<${soap}:body use="encoded" namespace="urn:rpc" encodingStyle="${ENC}"/>`
  const messages = parts
    .split('|')
    .map((one) => {
      const name = one.split(' ')[0]
      return `<wsdl:message name="${name}">${part(one)}</wsdl:message>`
    })
    .join('')
  const operations = parts.split('|').map((one) => one.split(' ')[0])
  return wsdlOf({
    types: TYPES,
    rest: `${messages}<wsdl:portType name="P">${operations.map((name) => `<wsdl:operation name="${name}"><wsdl:input message="t:${name}"/><wsdl:output message="t:${name}"/></wsdl:operation>`).join('')}</wsdl:portType>
      <wsdl:binding name="B" type="t:P"><${soap}:binding style="rpc" transport="http://schemas.xmlsoap.org/soap/http"/>
      ${operations.map((name) => `<wsdl:operation name="${name}"><${soap}:operation soapAction=""/><wsdl:input>${body}</wsdl:input><wsdl:output>${body}</wsdl:output></wsdl:operation>`).join('')}</wsdl:binding>
      <wsdl:service name="S"><wsdl:port name="Q" binding="t:B"><${soap}:address location="/svc"/></wsdl:port></wsdl:service>`
  }).replace('<wsdl:definitions', `<wsdl:definitions xmlns:enc="${ENC}" xmlns:apache="${APACHE}"`)
}

const mapItem = (key: string, value: string) =>
  `<item xsi:type="m:mapItem"><key xsi:type="xsd:string">${key}</key>${value}</item>`
const people = (count: number) => `xsi:type="e:Array" xmlns:e="${ENC}" e:arrayType="t:Person[${count}]"`

describe('SOAP encoding', () => {
  const cases: ReadonlyArray<readonly [what: string, operation: string, value: unknown, xml: string]> = [
    [
      'structures, each value with its type',
      'person',
      { age: null, name: 'Ann' },
      '<person xsi:type="t:Person"><name xsi:type="xsd:string">Ann</name><age xsi:nil="true"/></person>'
    ],
    [
      'a derived structure',
      'person',
      { $type: 'Chief', name: 'Ann', age: 3, car: 'x' },
      '<person xsi:type="t:Chief"><name xsi:type="xsd:string">Ann</name><age xsi:type="xsd:int">3</age><car xsi:type="xsd:string">x</car></person>'
    ],
    ['a scalar', 'note', 'hello', '<note xsi:type="xsd:string">hello</note>'],
    ['an empty array', 'people', [], `<people ${people(0)}/>`],
    [
      'an array of structures',
      'people',
      [{ name: 'Ann', age: 1 }],
      `<people ${people(1)}><item xsi:type="t:Person"><name xsi:type="xsd:string">Ann</name><age xsi:type="xsd:int">1</age></item></people>`
    ],
    [
      'an array whose items have a name',
      'words',
      ['a', 'b'],
      `<words xmlns:e="${ENC}" xsi:type="e:Array" e:arrayType="xsd:string[2]"><word xsi:type="xsd:string">a</word><word xsi:type="xsd:string">b</word></words>`
    ],
    [
      'an array of two dimensions',
      'grid',
      [
        [1, 2],
        [3, 4],
        [5, 6]
      ],
      `<grid xmlns:e="${ENC}" xsi:type="e:Array" e:arrayType="xsd:int[3,2]">${[1, 2, 3, 4, 5, 6].map((n) => `<item xsi:type="xsd:int">${n}</item>`).join('')}</grid>`
    ],
    [
      'an array of arrays',
      'rows',
      [[1], [2, 3]],
      `<rows xmlns:e="${ENC}" xsi:type="e:Array" e:arrayType="xsd:int[][2]"><item xsi:type="e:Array" e:arrayType="xsd:int[1]"><item xsi:type="xsd:int">1</item></item><item xsi:type="e:Array" e:arrayType="xsd:int[2]"><item xsi:type="xsd:int">2</item><item xsi:type="xsd:int">3</item></item></rows>`
    ],
    [
      'a map of Apache, also as a value',
      'map',
      {
        item: [
          { key: 'a', value: 1 },
          { key: 'b', value: { $type: 'Map', item: [{ key: 'c', value: null }] } }
        ]
      },
      `<map xmlns:m="${APACHE}" xsi:type="m:Map">${mapItem('a', '<value xsi:type="xsd:int">1</value>')}${mapItem('b', `<value xsi:type="m:Map">${mapItem('c', '<value xsi:nil="true"/>')}</value>`)}</map>`
    ]
  ]
  for (const [what, operation, value, xml] of cases) {
    it(`writes and reads ${what}`, async () => {
      await using bench = await soapBench(encodedWsdl())
      assert.deepEqual(await bench.json({ operation, [operation]: value }), { [operation]: value })
      assertNames(bench.sent(), `<r:${operation} xmlns:r="urn:rpc">${xml}</r:${operation}>`)
    })
  }

  it('needs no schema for a map of Apache', async () => {
    await using bench = await soapBench(encodedWsdl())
    assert.deepEqual(bench.inspection.warnings, [])
    assert.deepEqual(bench.inspection.missing, [])
  })

  it('states its encoding, in both versions of SOAP', async () => {
    await using old = await soapBench(encodedWsdl())
    await old.call({ operation: 'note', note: 'x' })
    assert.match(old.upstream.received.at(-1)?.body.toString() ?? '', /Body soap:encodingStyle="[^"]*soap\/encoding\/"/)
    await using recent = await soapBench(encodedWsdl('soap12'))
    await recent.call({ operation: 'words', words: ['a'] })
    const sent = recent.upstream.received.at(-1)?.body.toString() ?? ''
    assert.match(sent, /words soap:encodingStyle="http:\/\/www.w3.org\/2003\/05\/soap-encoding"/)
    assert.match(sent, /itemType="\w+:string" \w+:arraySize="1"/)
  })

  const answered = async (operation: string, content: string) => {
    const body = `<r:${operation}Response xmlns:r="urn:rpc" xmlns:e="${ENC}" xmlns:t="urn:t" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xsd="http://www.w3.org/2001/XMLSchema">`
    const [inner = '', beside = ''] = content.split('||')
    const xml = envelope(`${body}${inner}</r:${operation}Response>${beside}`)
    await using bench = await soapBench(encodedWsdl(), answering(200, XML, xml))
    return await bench.json({ operation, [operation]: operation === 'note' ? 'x' : undefined, ...SENT[operation] })
  }

  it('resolves references to values outside of the response element', async () => {
    const ref = (id: string, content: string) =>
      `<multiRef id="${id}" xmlns:e="${ENC}" e:root="0" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:t="urn:t" xsi:type="t:Person">${content}</multiRef>`
    const json = await answered(
      'people',
      `<people xsi:type="e:Array" e:arrayType="t:Person[2]"><item href="#a"/><item href="#b"/></people>||${ref('a', '<name>Ann</name><age>4</age>')}${ref('b', '<name>Bob</name><age>5</age><boss href="#a"/>')}`
    )
    const ann = { name: 'Ann', age: 4 }
    assert.deepEqual(json, { people: [ann, { name: 'Bob', age: 5, boss: ann }] })
  })

  it('reads sparse and partial arrays, with null for omitted items', async () => {
    assert.deepEqual(
      await answered(
        'words',
        '<words e:arrayType="xsd:string[5]" e:offset="[1]"><x>a</x><x e:position="[3]">b</x></words>'
      ),
      { words: [null, 'a', null, 'b'] }
    )
  })

  it('reads values that only declare their own type', async () => {
    assert.deepEqual(
      await answered(
        'anything',
        '<anything xsi:type="e:Array" e:arrayType="xsd:anyType[2]"><i xsi:type="xsd:int">1</i><i xsi:type="t:Person"><name>Ann</name><age>2</age></i></anything>'
      ),
      { anything: [1, { $type: 'Person', name: 'Ann', age: 2 }] }
    )
  })

  it('resolves references in open content, without the attributes of the encoding', async () => {
    const ref = (id: string, content: string) =>
      `<multiRef id="${id}" xmlns:c="${ENC}" c:root="0" e:encodingStyle="${ENC}" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" ${content}</multiRef>`
    assert.deepEqual(
      await answered(
        'anything',
        `<anything xsi:type="e:Array" e:arrayType="xsd:anyType[2]"><i href="#a"/><i href="#b"/></anything>||${ref('a', `xsi:type="c:int">5`)}${ref('b', '><n>x</n><m href="#a"/>')}`
      ),
      { anything: [5, { $any: [{ n: 'x' }, { m: 5 }] }] }
    )
  })

  const hostile: ReadonlyArray<readonly [what: string, operation: string, content: string]> = [
    ['a reference to nothing', 'person', '<person href="#gone"/>'],
    [
      'a value that contains itself',
      'person',
      '<person href="#a"/>||<multiRef id="a"><name>x</name><boss href="#a"/></multiRef>'
    ],
    [
      'a circle of references',
      'person',
      '<person href="#a"/>||<multiRef id="a" href="#b"/><multiRef id="b" href="#a"/>'
    ],
    [
      'references that double',
      'anything',
      `<anything e:arrayType="xsd:anyType[1]" xsi:type="e:Array"><i href="#a0"/></anything>||${Array.from({ length: 40 }, (_, i) => `<multiRef id="a${i}" xmlns:e="${ENC}" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="e:Array"><i href="#a${i + 1}"/><i href="#a${i + 1}"/></multiRef>`).join('')}<multiRef id="a40">x</multiRef>`
    ],
    ['an array with a huge gap', 'words', '<words e:offset="[999999999]"><x>a</x></words>']
  ]
  for (const [what, operation, content] of hostile) {
    it(`rejects ${what}`, async () => {
      await assert.rejects(answered(operation, content), { code: 'upstream_invalid_response' })
    })
  }

  it('rejects values that are not arrays, and rows of different lengths', async () => {
    await using bench = await soapBench(encodedWsdl())
    await assert.rejects(bench.json({ operation: 'words', words: 'a' }), {
      message: /^\$\.words must be an array; got "a"/
    })
    await assert.rejects(bench.json({ operation: 'grid', grid: [[1], [2, 3]] }), {
      message: /^\$\.grid\[1\] must be as long/
    })
    await assert.rejects(bench.json({ operation: 'people', people: [{ age: 1 }] }), {
      message: /^\$\.people\[0\]\.name is required/
    })
    assert.equal(bench.upstream.received.filter(({ method }) => method === 'POST').length, 0)
  })
})

const SENT: Readonly<Record<string, object>> = {
  people: { people: [] },
  words: { words: [] },
  anything: { anything: 'x' },
  person: { person: { name: 'x', age: 1 } }
}

/** Like `assertXml`, but accepts any prefix in `arrayType`. */
function assertNames(sent: Parameters<typeof assertXml>[0][], expected: string): void {
  const actual = sent[0] ?? assert.fail('nothing was sent')
  assertXml(withoutArrayPrefix(actual), expected.replaceAll(/arrayType="\w+:/g, 'arrayType="'))
}

type Sent = NonNullable<Parameters<typeof assertXml>[0]>
function withoutArrayPrefix(element: Sent): Sent {
  return {
    ...element,
    attributes: element.attributes.map((one) =>
      one.name === 'arrayType' ? { ...one, value: one.value.replace(/^\w+:/, '') } : one
    ),
    nodes: element.nodes.map((node) => (typeof node === 'string' ? node : withoutArrayPrefix(node)))
  }
}
