import { ExactEvmScheme } from '@x402/evm/exact/client'
import { wrapFetchWithPaymentFromConfig } from '@x402/fetch'
import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

const account = privateKeyToAccount(process.env['PAYER_KEY'] as Hex)
const [url] = process.argv.slice(2)
if (url === undefined) {
  console.log(account.address)
  process.exit()
}

const payingFetch = wrapFetchWithPaymentFromConfig(fetch, {
  // Base is eip155:8453, Base Sepolia eip155:84532; 31337 is the chain of the demo.
  schemes: [{ network: 'eip155:31337', client: new ExactEvmScheme(account) }],
  // The client's own list of tokens does not have play USDC.
  spendControls: { allowedAssets: true }
})
const answer = await payingFetch(url, {
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: '{"name":"Ada"}'
})
console.log(
  JSON.stringify({ status: answer.status, charged: answer.headers.get('Souk-Charged'), answer: await answer.json() })
)
