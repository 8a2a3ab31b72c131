/**
 * `npm run conformance:mcp`: runs the official conformance suite of the Model Context Protocol against `/mcp` of a node, for each revision
 * that the suite knows. npx fetches the suite. Its scenarios call tools and read resources of fixed names: an API named `test` provides
 * the tools, and scenarios about features that a marketplace lacks are in `NOT_APPLICABLE`. The last line is a JSON summary; the exit code
 * is 1 after any other failure.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { createServer, request as httpRequest, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { soukHome } from '../helpers/souk-home.ts'

const SUITE = '@modelcontextprotocol/conformance@0.2.0-alpha.12'
const REVISIONS = ['2025-06-18', '2025-11-25', '2026-07-28']

/** Scenarios by the start of their names, and why a node has nothing to test. */
const NOT_APPLICABLE: ReadonlyArray<readonly [start: string, reason: string]> = [
  ['logging-set-level', 'no log messages to agents; the protocol has deprecated them'],
  ['tools-call-with-logging', 'no log messages to agents; the protocol has deprecated them'],
  ['tools-call-mixed-content', 'a response of an API has one media type'],
  ['tools-call-sampling', 'no questions to the model of an agent'],
  ['tools-call-elicitation', 'no questions to the user of an agent'],
  ['elicitation-', 'no questions to the user of an agent'],
  ['input-required-', 'no questions to the user of an agent'],
  ['json-schema-2020-12', 'tool schemas keep to the subset that all model vendors accept'],
  ['server-sse-polling', 'no event ids: a stream cannot be resumed at a stateless endpoint'],
  ['resources-read-', 'resources are documents of APIs, not the fixed ones of the suite'],
  ['resources-templates-read', 'resources are documents of APIs, not the fixed ones of the suite'],
  ['resources-subscribe', 'no subscriptions to resources'],
  ['resources-unsubscribe', 'no subscriptions to resources'],
  ['prompts-get-', 'prompts are those of the marketplace, not the fixed ones of the suite'],
  ['http-custom-header-server-validation', 'no tool takes arguments from headers'],
  ['server-stateless', 'no change notifications and no tool that asks the model; its other checks pass'],
  ['tasks-', 'extension: no tasks'],
  ['sep-2640-', 'extension: no skills']
]

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='

/** Operations of the API, by the name of their tool without `test_`. */
const OPERATIONS: Readonly<Record<string, (response: ServerResponse) => unknown>> = {
  simple_text: (response) => send(response, 'text/plain', 'This is a simple text response for testing.'),
  image_content: (response) => send(response, 'image/png', Buffer.from(PIXEL, 'base64')),
  audio_content: (response) => send(response, 'audio/wav', Buffer.from('RIFF\u0000\u0000\u0000\u0000WAVE')),
  embedded_resource: (response) => send(response, 'application/pdf', '%PDF-1.7'),
  error_handling: (response) => send(response, 'text/plain', 'This tool intentionally returns an error.', 500),
  async tool_with_progress(response) {
    response.writeHead(200, { 'content-type': 'application/x-ndjson' })
    for (let at = 0; at < 3; at++) {
      response.write(`{"step":${at}}\n`)
      await wait(200)
    }
    response.end()
  }
}

function send(response: ServerResponse, type: string, body: string | Buffer, status = 200): void {
  response.writeHead(status, { 'content-type': type }).end(body)
}

async function listen(server: ReturnType<typeof createServer>): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

interface Check {
  readonly id: string
  readonly status: string
  readonly errorMessage?: string
}

/** Runs the suite. Returns the checks of each scenario. */
async function runSuite(url: string, revision: string): Promise<ReadonlyMap<string, readonly Check[]>> {
  const out = await mkdtemp(join(tmpdir(), 'souk-conformance-'))
  try {
    const args = ['--yes', SUITE, 'server', '--url', url, '--suite', 'all', '--spec-version', revision, '-o', out]
    const child = spawn('npx', args, { stdio: ['ignore', 'ignore', 'inherit'] })
    await once(child, 'close')
    const files = (await readdir(out, { recursive: true })).filter((file) => file.endsWith('checks.json')).toSorted()
    const found = await Promise.all(
      files.map(async (file) => {
        const scenario = file.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT.*$/, '')
        return [scenario, JSON.parse(await readFile(join(out, file), 'utf8')) as Check[]] as const
      })
    )
    return new Map(found)
  } finally {
    await rm(out, { recursive: true, force: true })
  }
}

const upstream = createServer((request, response) => {
  request.resume()
  const [, name = ''] = (request.url ?? '').split('/')
  const answer = OPERATIONS[name]
  if (answer !== undefined) {
    answer(response)
    return
  }
  const paths = Object.keys(OPERATIONS).map((id) => [
    `/${id}`,
    { post: { operationId: id, responses: { 200: { description: '' } } } }
  ])
  const document = { openapi: '3.1.0', info: { title: 'test', version: '1' }, paths: Object.fromEntries(paths) }
  send(response, 'application/json', JSON.stringify(document))
})
const endpoint = `http://127.0.0.1:${await listen(upstream)}/`
let target = ''
let key = ''
/** The suite cannot send a key. */
const proxy = createServer((request, response) => {
  const { method = 'POST', headers } = request
  const forwarded = httpRequest(
    `${target}/mcp?api=test`,
    { method, headers: { ...headers, 'x-consumer-key': key } },
    (reply) => {
      response.writeHead(reply.statusCode ?? 502, reply.headers)
      reply.pipe(response)
    }
  )
  forwarded.on('error', () => response.destroy())
  request.pipe(forwarded)
})
const url = `http://localhost:${await listen(proxy)}/mcp`
const home = await soukHome()
const totals: Record<string, unknown> = { suite: SUITE }
try {
  const node = await home.up('default', '--cors-origin', new URL(url).origin)
  target = node.ingress
  await node.cli(`api register --name test --protocol REST --endpoint ${endpoint} --openapi ${endpoint} --price 0`)
  key = (await node.cli<{ key: string }>('key issue --api test')).key
  for (const revision of REVISIONS) {
    const counts = { scenarios: 0, passed: 0, failed: 0, not_applicable: 0 }
    for (const [scenario, checks] of await runSuite(url, revision)) {
      const failures = checks.filter(({ status }) => status === 'FAILURE' || status === 'WARNING')
      const [, reason] = NOT_APPLICABLE.find(([start]) => scenario.startsWith(start)) ?? []
      counts.scenarios++
      if (failures.length === 0) counts.passed++
      else if (reason === undefined) counts.failed++
      else counts.not_applicable++
      const words = failures.map(({ id, errorMessage }) => `${id}: ${errorMessage ?? ''}`)
      const said =
        failures.length === 0
          ? 'passed'
          : reason === undefined
            ? `FAILED\n  ${words.join('\n  ')}`
            : `not applicable: ${reason}`
      console.log(`${revision} ${scenario}: ${said}`)
    }
    if (counts.failed > 0 || counts.scenarios === 0) process.exitCode = 1
    totals[revision] = counts
  }
} finally {
  await home.close()
  upstream.closeAllConnections()
  upstream.close()
  proxy.closeAllConnections()
  proxy.close()
}
console.log(JSON.stringify(totals))
