import { createNode, handler } from 'souk'

const node = await createNode({ network: 'dev' })
await node.start()

const shout = handler(({ body }) => ({ loud: String(body).toUpperCase() }))
await node.souk.serve({ name: 'shout', price: '0' }, shout)

const reply = await node.souk.call({ api: 'shout', body: 'hello' })
console.log(JSON.stringify(await reply.json()))
await node.stop()
