/**
 *An owner process. Arguments: the store's path, the seed of its key, its port, and the calls of its only plan. Writes its address
 * to standard output when it is ready.
 */
import { createHash } from 'node:crypto'
import { writeSync } from 'node:fs'
import { generateKeyPairFromSeed } from '@libp2p/crypto/keys'
import { createNode, createSqliteStore, handler } from '../../../lib/index.ts'

const [, , path = '', seed = '', port = '', included = ''] = process.argv
const node = await createNode({
  network: 'testnet',
  privateKey: await generateKeyPairFromSeed('Ed25519', createHash('sha256').update(seed).digest()),
  listen: [`/ip4/127.0.0.1/tcp/${port}`],
  store: createSqliteStore({ path })
})
await node.start()
await node.souk.serve(
  { name: 'echo', price: '0', plans: [{ id: 'basic', included: Number(included) }] },
  handler(({ body }) => body)
)
writeSync(1, `${node.libp2p.getMultiaddrs()[0]?.toString()}\n`)
