import { createNode } from 'souk'

const node = await createNode({ network: 'dev', bootstrap: process.argv.slice(2) })
await node.start()
const reply = await node.souk.call({ api: 'shout', body: 'hello' })
console.log(JSON.stringify({ status: reply.status, answer: await reply.json(), ms: reply.timing }))
await node.stop()
