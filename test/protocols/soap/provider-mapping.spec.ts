import assert from 'node:assert/strict'
import { isSoukError } from '../../../lib/base/errors.ts'
import { soapFactory } from '../../../protocols/soap/soap-factory.ts'
import { checkMapping, mappingOf, withMapping } from '../../../protocols/soap/snapshot.ts'
import { FOREVER, jsonOf, plainCall } from '../../helpers/adapter-bench.ts'
import { assertXml, soapBench, wsdlOf } from './soap-kit.ts'

const WSDL = wsdlOf({
  schema: `<xs:element name="echo"><xs:complexType><xs:sequence>
      <xs:element name="accountId" type="xs:string"/>
      <xs:element name="apiKey" type="xs:string"/>
      <xs:element name="amount" type="xs:decimal" minOccurs="0"/>
      <xs:element name="mode" type="xs:string" minOccurs="0"/>
      <xs:element name="login" minOccurs="0"><xs:complexType><xs:sequence><xs:element name="user" type="xs:string"/><xs:element name="pass" type="xs:string"/></xs:sequence></xs:complexType></xs:element>
      <xs:element name="line" minOccurs="0" maxOccurs="unbounded"><xs:complexType><xs:sequence><xs:element name="sku" type="xs:string"/><xs:element name="qty" type="xs:int"/></xs:sequence><xs:attribute name="no" type="xs:int"/></xs:complexType></xs:element>
    </xs:sequence></xs:complexType></xs:element>`
})
const mapping = (input: object, output: object = {}, revision = 1) => ({
  version: 1,
  revision,
  operations: { echo: { input, output } }
})

/** The bench with the mapping applied. */
async function mapped(document: unknown) {
  const bench = await soapBench(WSDL)
  const endpoint = `${bench.upstream.url}/svc?wsdl`
  const { snapshot, description } = withMapping(bench.inspection.snapshot, document)
  const adapter = soapFactory.open({ endpoint }, snapshot)
  return {
    description,
    snapshot,
    sent: () => bench.sent()[0],
    call: async (body: object) => jsonOf(await adapter.call(plainCall({ operation: 'echo', ...body }), FOREVER)),
    calls: () => bench.upstream.received.filter(({ method }) => method === 'POST').length,
    async [Symbol.asyncDispose]() {
      await adapter.close?.()
      await bench[Symbol.asyncDispose]()
    }
  }
}

describe("a SOAP provider's mapping", () => {
  it('renames fields in both directions, including in arrays, and attributes', async () => {
    const rules = {
      accountId: { rename: 'account' },
      'line/sku': { rename: 'article' },
      'line/no': { rename: 'number' }
    }
    await using bench = await mapped(
      mapping({ ...rules, apiKey: { value: 'k' } }, { ...rules, apiKey: { hide: true } })
    )
    const given = { account: 'a', line: [{ number: 1, article: 'x', qty: 2 }] }
    assert.deepEqual(await bench.call(given), given)
    assertXml(
      bench.sent(),
      '<t:echo><t:accountId>a</t:accountId><t:apiKey>k</t:apiKey><t:line no="1"><t:sku>x</t:sku><t:qty>2</t:qty></t:line></t:echo>'
    )
  })

  it('can swap two names', async () => {
    const rules = { accountId: { rename: 'apiKey' }, apiKey: { rename: 'accountId' } }
    await using bench = await mapped(mapping(rules, rules))
    assert.deepEqual(await bench.call({ apiKey: '1', accountId: '2' }), { apiKey: '1', accountId: '2', line: [] })
    assertXml(bench.sent(), '<t:echo><t:accountId>1</t:accountId><t:apiKey>2</t:apiKey></t:echo>')
  })

  it('fills in fixed values, even into objects that are not given, and defaults', async () => {
    await using bench = await mapped(
      mapping({
        apiKey: { value: 'k' },
        mode: { default: 'fast' },
        'login/user': { value: 'u' },
        'login/pass': { value: 'p' }
      })
    )
    const login = '<t:login><t:user>u</t:user><t:pass>p</t:pass></t:login>'
    await bench.call({ accountId: 'a' })
    assertXml(
      bench.sent(),
      `<t:echo><t:accountId>a</t:accountId><t:apiKey>k</t:apiKey><t:mode>fast</t:mode>${login}</t:echo>`
    )
    await bench.call({ accountId: 'a', mode: 'slow' })
    assertXml(
      bench.sent(),
      `<t:echo><t:accountId>a</t:accountId><t:apiKey>k</t:apiKey><t:mode>slow</t:mode>${login}</t:echo>`
    )
  })

  it('fills in header blocks', async () => {
    const block =
      '<xs:element name="Auth"><xs:complexType><xs:sequence><xs:element name="user" type="xs:string"/></xs:sequence></xs:complexType></xs:element>'
    const wsdl = WSDL.replace('<xs:element name="echo">', `${block}<xs:element name="echo">`)
      .replace(
        '<wsdl:portType',
        '<wsdl:message name="auth"><wsdl:part name="a" element="t:Auth"/></wsdl:message><wsdl:portType'
      )
      .replace('<soap:body', '<soap:header message="t:auth" part="a" use="literal"/><soap:body')
    await using bench = await soapBench(wsdl)
    const { snapshot, description } = withMapping(
      bench.inspection.snapshot,
      mapping({ '$headers/Auth/user': { value: 'node-7' }, $headers: { hide: true } })
    )
    assert(!JSON.stringify(description.operations[0]?.input).includes('$headers'))
    const adapter = soapFactory.open({ endpoint: `${bench.upstream.url}/svc?wsdl` }, snapshot)
    await adapter.call(plainCall({ operation: 'echo', accountId: 'a', apiKey: 'k' }), FOREVER)
    await adapter.close?.()
    assert.match(bench.upstream.received.at(-1)?.body.toString() ?? '', /Header><\w+:Auth><\w+:user>node-7</)
  })

  const refused: ReadonlyArray<readonly [rules: object, given: object, message: RegExp]> = [
    [{ apiKey: { value: 'k' } }, { accountId: 'a', apiKey: 'mine' }, /^\$\.apiKey is not known here\.$/],
    [
      { accountId: { rename: 'account' } },
      { account: 'b', accountId: 'a', apiKey: 'k' },
      /^\$\.accountId is not known here\.$/
    ],
    [{ accountId: { rename: 'account' } }, { apiKey: 'k' }, /^\$\.account is required\.$/],
    [{ mode: { required: true } }, { accountId: 'a', apiKey: 'k' }, /^\$\.mode is required\.$/],
    [{ mode: { required: true } }, { accountId: 'a', apiKey: 'k', mode: null }, /^\$\.mode is required\.$/],
    [
      { amount: { min: '0.01' } },
      { accountId: 'a', apiKey: 'k', amount: 0 },
      /^\$\.amount must be at least 0\.01; got 0\.$/
    ],
    [
      { amount: { max: '9007199254740993' } },
      { accountId: 'a', apiKey: 'k', amount: '9007199254740994' },
      /must be at most 9007199254740993/
    ],
    [
      { accountId: { minLength: 2 } },
      { accountId: 'a', apiKey: 'k' },
      /^\$\.accountId must have at least 2 characters/
    ],
    [{ accountId: { maxLength: 2 } }, { accountId: '😀😀😀', apiKey: 'k' }, /must have at most 2 characters/],
    [
      { accountId: { pattern: '[A-Z]+' } },
      { accountId: 'aB', apiKey: 'k' },
      /must match the pattern \[A-Z\]\+; got "aB"/
    ],
    [{ mode: { enum: ['a', 'b'] } }, { accountId: 'a', apiKey: 'k', mode: 'c' }, /must be one of a, b; got "c"/],
    [{ line: { maxItems: 1 } }, { accountId: 'a', apiKey: 'k', line: [{}, {}] }, /^\$\.line must have at most 1 items/],
    [
      { line: { rename: 'lines' }, 'line/qty': { rename: 'count' } },
      { accountId: 'a', apiKey: 'k', lines: [{ sku: 'x', count: 'many' }] },
      /^\$\.lines\[0\]\.count must be an integer/
    ],
    [
      { 'line/qty': { max: 3 } },
      { accountId: 'a', apiKey: 'k', line: [{ sku: 'x', qty: 4 }] },
      /^\$\.line\[0\]\.qty must be at most 3; got 4\.$/
    ]
  ]
  for (const [rules, given, message] of refused) {
    it(`rejects ${JSON.stringify(given)} by ${JSON.stringify(rules)} before anything is sent`, async () => {
      await using bench = await mapped(mapping(rules))
      await assert.rejects(bench.call(given), { code: 'invalid_request', message })
      assert.equal(bench.calls(), 0)
    })
  }

  it('shows in the JSON Schema', async () => {
    await using bench = await mapped(
      mapping(
        {
          accountId: { rename: 'account', pattern: '[a-z]+', maxLength: 9 },
          apiKey: { hide: true, value: 'k' },
          mode: { default: 'fast' },
          'line/sku': { hide: true, value: 's' }
        },
        { apiKey: { hide: true } }
      )
    )
    const [echo] = JSON.parse(JSON.stringify(bench.description.operations)) as [
      {
        input: { properties: Record<string, unknown>; required: string[] }
        output: { properties: Record<string, unknown> }
      }
    ]
    const { properties, required } = echo.input
    assert.deepEqual(required, ['operation', 'account'])
    assert.deepEqual(Object.keys(properties), ['operation', 'account', 'amount', 'mode', 'login', 'line'])
    assert.deepEqual(properties.account, { type: 'string', pattern: '^(?:[a-z]+)$', maxLength: 9 })
    assert.deepEqual(properties.mode, { type: 'string', default: 'fast' })
    const line = properties.line as { items: { properties: object } }
    assert.deepEqual(Object.keys(line.items.properties), ['qty', 'no'])
    assert(!('apiKey' in echo.output.properties))
  })

  it('gives no header block the name of another', async () => {
    const wsdl = wsdlOf({
      schema: `<xs:element name="echo"><xs:complexType/></xs:element>
        <xs:element name="Auth" type="xs:string"/><xs:element name="Trace" type="xs:string"/>`
    })
      .replace(
        '<wsdl:portType',
        `<wsdl:message name="blocks"><wsdl:part name="a" element="t:Auth"/><wsdl:part name="b" element="t:Trace"/></wsdl:message>
        <wsdl:portType`
      )
      .replace('<soap:body', (body) => {
        const header = (part: string) => `<soap:header message="t:blocks" part="${part}" use="literal"/>`
        return `${header('a')}${header('b')}${body}`
      })
    await using bench = await soapBench(wsdl)
    const { snapshot } = bench.inspection
    assert.deepEqual(checkMapping(snapshot, mapping({ '$headers/Auth': { rename: 'Key' } })), [])
    assert.deepEqual(checkMapping(snapshot, mapping({ '$headers/Auth': { rename: 'Trace' } })), [
      { at: '/operations/echo/input/$headers~1Auth', problem: 'Another field is called Trace.' }
    ])
  })

  const wrong: ReadonlyArray<readonly [document: unknown, at: string, problem: RegExp]> = [
    [{}, '', /it is missing/],
    [{ version: 1, revision: 1, operations: {}, more: 1 }, '', /more/],
    [{ version: 1, revision: 1, operations: { gone: {} } }, '/operations/gone', /no operation gone/],
    [mapping({ acount: {} }), '/operations/echo/input/acount', /There is no field acount.*accountId/],
    [mapping({ 'line/nothing': {} }), '/operations/echo/input/line~1nothing', /no field line\/nothing.*sku, qty, no/],
    [
      mapping({ accountId: { rename: 'apiKey' } }),
      '/operations/echo/input/accountId',
      /Another field is called apiKey/
    ],
    [mapping({ accountId: { rename: 'operation' } }), '/operations/echo/input/accountId', /called operation/],
    [mapping({ apiKey: { hide: true } }), '/operations/echo/input/apiKey', /needs a value or a default/],
    [mapping({ login: { minLength: 1 } }), '/operations/echo/input/login', /field with a simple value/],
    [mapping({ mode: { maxItems: 1 } }), '/operations/echo/input/mode', /need an array/],
    [mapping({ mode: { pattern: '(?=a)b' } }), '/operations/echo/input/mode', /pattern "\(\?=a\)b" looks around/],
    [mapping({ mode: { pattern: '(a)\\1' } }), '/operations/echo/input/mode', /refers back/],
    [mapping({ mode: { pattern: '(a{1,99}){1,99}' } }), '/operations/echo/input/mode', /repeats too often/],
    [mapping({ mode: { pattern: 'a)|(b' } }), '/operations/echo/input/mode', /no JavaScript/],
    [mapping({ mode: { pattern: '(' } }), '/operations/echo/input/mode', /no JavaScript/],
    [mapping({ 'line/qty': { value: 'x' } }), '/operations/echo/input/line~1qty', /"x" must be an integer/],
    [mapping({ amount: { min: 'low' } }), '/operations/echo/input/amount', /must be numbers/]
  ]
  for (const [document, at, problem] of wrong) {
    it(`reports the problem of ${JSON.stringify(document).slice(0, 90)}`, async () => {
      await using bench = await soapBench(WSDL)
      const { snapshot } = bench.inspection
      const [first] = checkMapping(snapshot, document)
      assert.match(first?.problem ?? '', problem)
      if (at !== '') assert.equal(first?.at, at)
      assert.throws(
        () => withMapping(snapshot, document),
        (error) => isSoukError(error) && error.code === 'invalid_request' && error.members?.problems !== undefined
      )
    })
  }

  it('is stored with the registration, with an increasing revision', async () => {
    await using bench = await soapBench(WSDL)
    const { snapshot } = bench.inspection
    assert.deepEqual(mappingOf(snapshot).operations, {})
    const first = mapping({ mode: { default: 'a' } })
    assert.deepEqual(checkMapping(snapshot, first), [])
    const second = withMapping(snapshot, first).snapshot
    assert.deepEqual(mappingOf(second).operations, first.operations)
    assert.throws(() => withMapping(second, first), { message: /revision/ })
    const third = withMapping(second, mapping({}, {}, 2))
    assert.deepEqual(third.description, bench.inspection.description)
  })
})
