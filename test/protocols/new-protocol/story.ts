/** Sells and calls an API of the protocol `Shout` on a complete node, and prints what each interface shows of it. */
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { connect } from '../../../node/admin/client.ts'
import { locateProfile } from '../../../node/index.ts'
import { soukHome } from '../../helpers/souk-home.ts'

const TOOLS = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
const TO_AGENTS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

const server = createServer((socket) => {
  createInterface(socket).once('line', (line) => socket.end(`${line.toUpperCase()}\n`))
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

const home = await soukHome()
try {
  const help = (await home.run('api register --help')).stdout
  const words = (await home.run('completion words -- api register --protocol', [''])).stdout
  const node = await home.up('shop')
  const registered = await node.cli(`api register --name loud --protocol shout --endpoint ${endpoint} --price 0`)
  const openapi: unknown = await (await fetch(`${node.ingress}/v1/apis/loud/openapi.json`)).json()
  const found = await node.cli('search --protocol SHOUT')
  const called = await node.cli('call loud', '{"operation":"shout","line":"hello"}')
  const admin = await connect(locateProfile('shop', { SOUK_HOME: home.directory }))
  const tools = await (await admin.mcp('api=loud', TOOLS, TO_AGENTS, AbortSignal.timeout(30_000))).text()
  console.log(JSON.stringify({ help, words, registered, openapi, found, called, tools }))
} finally {
  await home.close()
  server.close()
}
