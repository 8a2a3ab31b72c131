import assert from 'node:assert/strict'
import {
  GraphQLDeferDirective,
  GraphQLList,
  GraphQLObjectType,
  GraphQLSchema,
  GraphQLStreamDirective,
  GraphQLString,
  experimentalExecuteIncrementally,
  parse,
  specifiedDirectives
} from 'graphql'
import { graphqlFactory } from '../../../../protocols/index.ts'
import { type OverlayBench, overlayBench } from '../../../helpers/overlay-bench.ts'
import { type Behaviour, type ScriptedUpstream, scriptedUpstream } from '../../../helpers/scripted-upstream.ts'

const FOREVER = new AbortController().signal

/** An API that sends the executor's parts of a response, each after `letGo` resolves. */
function executing(schema: GraphQLSchema, letGo: () => Promise<void>): Behaviour {
  return (response, { body, headers }) => {
    const run = async () => {
      const { query } = JSON.parse(body.toString()) as { query: string }
      const result = await experimentalExecuteIncrementally({ schema, document: parse(query) })
      if (!('initialResult' in result)) {
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(result))
        return
      }
      assert.match(headers.accept ?? '', /^multipart\/mixed/)
      response.writeHead(200, { 'content-type': 'multipart/mixed; boundary="-"' })
      const part = (value: object) => {
        const text = JSON.stringify(value)
        response.write(`\r\n---\r\nContent-Type: application/json; charset=utf-8\r\n\r\n${text}`)
      }
      part(result.initialResult)
      for await (const more of result.subsequentResults) {
        await letGo()
        part(more)
      }
      response.end('\r\n-----\r\n')
    }
    run().catch((error: unknown) => response.destroy(error as Error))
  }
}

describe('@defer and @stream, through Souk', () => {
  let bench: OverlayBench
  let upstream: ScriptedUpstream
  let url: string
  let letGo = Promise.withResolvers<void>()

  before(async () => {
    const Slow = new GraphQLObjectType({
      name: 'Slow',
      fields: { text: { type: GraphQLString, resolve: () => new Promise((resolve) => setImmediate(resolve, 'late')) } }
    })
    const schema = new GraphQLSchema({
      query: new GraphQLObjectType({
        name: 'Query',
        fields: {
          soon: { type: GraphQLString, resolve: () => 'early' },
          slow: { type: Slow, resolve: () => ({}) },
          list: { type: new GraphQLList(GraphQLString), resolve: () => ['a', 'b', 'c'] }
        }
      }),
      directives: [...specifiedDirectives, GraphQLDeferDirective, GraphQLStreamDirective]
    })
    bench = await overlayBench()
    upstream = await scriptedUpstream(executing(schema, () => letGo.promise))
    const config = { endpoint: upstream.url }
    const { snapshot } = await graphqlFactory.inspect(config, FOREVER)
    await bench.owner.serve({ name: 'parts', price: '0' }, graphqlFactory.open(config, snapshot))
    url = `${bench.url}/api/demo/api/parts`
  })
  beforeEach(() => (letGo = Promise.withResolvers()))
  after(async () => {
    await bench.close()
    await upstream.close()
  })

  const post = (query: string, accept: string) =>
    bench.fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept },
      body: JSON.stringify({ query })
    })

  for (const query of ['{ soon slow { ... @defer { text } } }', '{ soon list @stream(initialCount: 1) }']) {
    it(`are delivered part by part: ${query}`, async () => {
      const response = await post(query, 'multipart/mixed; deferSpec=20220824, application/json')
      assert.equal(response.headers.get('content-type'), 'multipart/mixed; boundary="-"')
      const reader = (response.body ?? assert.fail()).pipeThrough(new TextDecoderStream()).getReader()
      let text = ''
      while (!text.includes('"hasNext":true')) text += (await reader.read()).value ?? assert.fail('it ended')
      assert.match(text, /"soon":"early"/)
      assert.doesNotMatch(text, /late|"c"/)
      letGo.resolve()
      for (let next = await reader.read(); !next.done; next = await reader.read()) text += next.value
      assert.match(text, /late|"c"/)
      assert.match(text, /"hasNext":false.*\r\n-----\r\n$/s)
    })
  }

  it('are whole responses if the API does not split them', async () => {
    const response = await post('{ soon }', 'multipart/mixed, application/json')
    assert.deepEqual(await response.json(), { data: { soon: 'early' } })
  })
})
