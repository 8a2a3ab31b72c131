import { x402Client, x402HTTPClient } from '@x402/core/client'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { createClient } from 'souk/client'
import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

const account = privateKeyToAccount(process.env['PAYER_KEY'] as Hex)
const x402 = new x402HTTPClient(
  x402Client.fromConfig({
    schemes: [{ network: 'eip155:31337', client: new ExactEvmScheme(account) }],
    // The client's own list of tokens does not have play USDC.
    spendControls: { allowedAssets: true }
  })
)
const client = createClient({
  ingress: process.argv[2] ?? 'http://127.0.0.1:8402',
  maxPrice: '0.05',
  payment: async (terms) => x402.encodePaymentSignatureHeader(await x402.createPaymentPayload(terms))
})
const { charged, body } = await client.call('hello', '', { name: 'Ada' })
console.log(JSON.stringify({ charged, body }))
