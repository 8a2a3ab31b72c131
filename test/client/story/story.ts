import { createClient, isSoukError } from '../../../client/index.ts'

/** The types that `souk types` writes for the API. */
interface Accounts {
  getBalance: { input: { accountId: string }; output: { balance: number } }
}

/** Uses the client in any runtime. Returns what it saw, the same in each. */
export async function story(ingress: string, key: string): Promise<Record<string, unknown>> {
  const client = createClient({ ingress, key, maxPrice: '0.01', timeoutMs: 30_000 })
  const failing = async (call: Promise<unknown>) => {
    const error: unknown = await call.then(
      () => undefined,
      (thrown: unknown) => thrown
    )
    if (!isSoukError(error)) return String(error)
    const { code, status, source, retryable, charged } = error
    return { code, status, source, retryable, charged }
  }
  const called = await client.for<Accounts>('bb-soap-account').getBalance({ accountId: 'ACC-1001' })
  const bytes = Uint8Array.of(137, 80, 0, 255)
  const file = new Blob([bytes], { type: 'image/png' })
  const put = await client.call('files', '', file, { method: 'PUT', path: '/files/a.png' })
  const got = await client.call('files', '', undefined, { method: 'GET', path: '/files/a.png' })
  const once = { idempotencyKey: crypto.randomUUID() }
  const first = await client.call('bb-soap-account', 'getBalance', { accountId: 'ACC-1001' }, once)
  const again = await client.call('bb-soap-account', 'getBalance', { accountId: 'ACC-1001' }, once)
  const ticks: unknown[] = []
  for await (const tick of client.stream('bb-sse-ticker', '', { symbol: 'BTCUSDT' })) {
    ticks.push(tick)
    if (ticks.length === 2) break
  }
  const lines: unknown[] = []
  for await (const { data } of client.stream('bb-sse-ticker', '', { lines: true })) lines.push(data)
  const account = (accountId: string, maxPrice: string) =>
    client.call('bb-soap-account', 'getBalance', { accountId }, { maxPrice })
  return {
    balance: [called.body.balance, called.charged, called.requestId.length],
    put: [put.status, put.body],
    got: [got.body instanceof Uint8Array, Array.from(got.body as Uint8Array)],
    replayed: [first.charged, again.charged, again.headers.get('Idempotency-Replayed')],
    ticks,
    lines,
    tooDear: await failing(account('ACC-1001', '0.0001')),
    missing: await failing(account('ACC-9', '0.01')),
    wrong: await failing(client.call('bb-soap-account', 'getBalance', {})),
    unknown: await failing(createClient({ ingress, key: 'souk_test_none' }).call('bb-soap-account', 'getBalance'))
  }
}
