import { createClient, isSoukError } from 'souk/client'

const DEMO_KEY = 'souk_test_SharedPublicDemoKeyForEverybody000UWma'
const [, , ingress = 'http://127.0.0.1:8402', key = DEMO_KEY] = process.argv
const client = createClient({ ingress, key, maxPrice: '0.01' })

try {
  const { body, charged } = await client.call('bb-soap-account', 'getBalance', { accountId: 'ACC-1001' })
  console.log(body, charged)

  for await (const { data } of client.stream('bb-sse-ticker', '', { symbol: 'BTCUSDT', interval: '1m' })) {
    console.log(data)
    break
  }
} catch (error) {
  if (!isSoukError(error)) throw error
  console.log(error.code, error.message, error.charged)
}
