import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { x402Client, type x402ClientConfig, x402HTTPClient } from '@x402/core/client'
import type { PaymentPayload } from '@x402/core/types'
import { wrapAxiosWithPayment } from '@x402/axios'
import { toClientEvmSigner } from '@x402/evm'
import { BatchSettlementEvmScheme } from '@x402/evm/batch-settlement/client'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { wrapFetchWithPayment } from '@x402/fetch'
import { create as createAxios } from 'axios'
import type { Hex } from 'viem'
import { actor, keyOf } from '../../helpers/chain.ts'
import type { KeylessBench } from '../../helpers/keyless-bench.ts'

/** One run of a client program: what it can do until it ends. */
export interface ClientRun {
  /** Sends a POST of `{}`; returns the HTTP status. */
  post(url: string): Promise<number>
  /** Absent: the client has no such call. */
  readonly refund?: (url: string) => Promise<boolean>
}

/** A published x402 client. */
export interface Client {
  readonly name: string
  readonly version: string
  /** Starts the program for the account of this name, without anything of an earlier run. */
  start(account: string, scheme: 'exact' | 'batch'): ClientRun
}

const require = createRequire(import.meta.url)
const REQUEST = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' } as const
/** Installed for the test only: its dependencies would replace the TypeScript of this repository. */
const DEXTER = { name: '@dexterai/x402', version: '2.0.0' }
/** Installed for the test only: 36 MB, and its peer versions conflict with viem's. */
const MPPX = { name: 'mppx', version: '0.11.0' }

type WrapFetch = (
  base: typeof fetch,
  options: { evmPrivateKey: Hex; rpcUrls: Record<string, string>; preferredNetwork: string }
) => typeof fetch

/** The parts of `mppx` that the test uses: a client by the `Payment` scheme, and the parser of its receipts. */
interface Mppx {
  create(config: { methods: readonly unknown[]; polyfill: boolean }): { fetch: typeof fetch }
  evm(config: Readonly<Record<string, unknown>>): readonly unknown[]
  receiptOf(response: Response): { readonly status: string }
}

function versionOf(name: string): string {
  const entry = require.resolve(name)
  const folder = entry.slice(0, entry.lastIndexOf(`${name}/`) + name.length)
  return (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }).version
}

/** The clients of the table. `scratch` is a folder for packages. */
export async function clients({ parameters, client: chain }: KeylessBench, scratch: string): Promise<Client[]> {
  const network = `eip155:${parameters.chainId}` as const
  const made = (account: string, scheme: 'exact' | 'batch', reads: boolean) => {
    const signer = reads ? toClientEvmSigner(actor(account), chain) : actor(account)
    const batch = new BatchSettlementEvmScheme(signer)
    const client = scheme === 'exact' ? new ExactEvmScheme(actor(account)) : batch
    const config: x402ClientConfig = { schemes: [{ network, client }], spendControls: { allowedAssets: true } }
    const refund = async (url: string) => (await batch.refund(url)).success
    return { core: x402Client.fromConfig(config), refund }
  }
  const byFetch =
    (reads: boolean): Client['start'] =>
    (account, scheme) => {
      const { core, refund } = made(account, scheme, reads)
      const paying = wrapFetchWithPayment(fetch, core)
      return { post: async (url) => (await paying(url, REQUEST)).status, refund }
    }
  const byAxios =
    (isHooked: boolean): Client['start'] =>
    (account, scheme) => {
      const { core, refund } = made(account, scheme, true)
      let last: PaymentPayload | undefined
      const kept = {
        createPaymentPayload: async (...args: Parameters<typeof core.createPaymentPayload>) =>
          (last = await core.createPaymentPayload(...args))
      }
      // The package has its own, older @x402/core, whose types differ.
      const axios = wrapAxiosWithPayment(createAxios(), kept as never)
      const http = new x402HTTPClient(core)
      if (isHooked) {
        axios.interceptors.response.use(async (response) => {
          const headerOf = (name: string) => response.headers[name.toLowerCase()] as string | undefined
          if (last !== undefined) await http.processPaymentResult(last, headerOf, response.status)
          return response
        })
      }
      return { post: async (url) => (await axios.post(url, {})).status, refund }
    }
  const byCore: Client['start'] = (account, scheme) => {
    const { core, refund } = made(account, scheme, true)
    const http = new x402HTTPClient(core)
    const post = async (url: string): Promise<number> => {
      const asked = await fetch(url, REQUEST)
      const required = http.getPaymentRequiredResponse((name) => asked.headers.get(name), await asked.json())
      for (let attempt = 1; ; attempt++) {
        const payload = await core.createPaymentPayload(required)
        const headers = { ...REQUEST.headers, ...http.encodePaymentSignatureHeader(payload) }
        const answer = await fetch(url, { ...REQUEST, headers })
        const result = await http.processPaymentResult(payload, (name) => answer.headers.get(name), answer.status)
        if (!result.recovered || attempt === 2) return answer.status
      }
    }
    return { post, refund }
  }
  await install(scratch)
  const dexter = await dexterIn(scratch)
  const mppx = await mppxIn(scratch)
  const [fetchVersion, axiosVersion] = [versionOf('@x402/fetch'), versionOf('@x402/axios')]
  return [
    { name: '`@x402/fetch`, signer with `readContract`', version: fetchVersion, start: byFetch(true) },
    { name: '`@x402/fetch`, plain viem account', version: fetchVersion, start: byFetch(false) },
    { name: '`@x402/core` alone', version: versionOf('@x402/core'), start: byCore },
    { name: '`@x402/axios`', version: axiosVersion, start: byAxios(false) },
    { name: '`@x402/axios` with the interceptor', version: axiosVersion, start: byAxios(true) },
    {
      name: '`@dexterai/x402`',
      version: DEXTER.version,
      start: (account) => {
        const evmPrivateKey = keyOf(account)
        const options = { evmPrivateKey, rpcUrls: { [network]: parameters.rpcUrl }, preferredNetwork: network }
        const paying = dexter(fetch, options)
        return { post: async (url) => (await paying(url, REQUEST)).status }
      }
    },
    {
      name: '`mppx`, by the scheme `Payment`',
      version: MPPX.version,
      start: (name) => {
        const { name: token, version } = parameters.usdc
        const methods = mppx.evm({ account: actor(name), authorization: { name: token, version } })
        const paying = mppx.create({ methods, polyfill: false })
        const post = async (url: string) => {
          const response = await paying.fetch(url, REQUEST)
          assert.equal(mppx.receiptOf(response).status, 'success')
          return response.status
        }
        return { post }
      }
    }
  ]
}

async function install(scratch: string): Promise<void> {
  const options = [
    '--prefix',
    scratch,
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--prefer-offline',
    '--legacy-peer-deps'
  ]
  const packages = [DEXTER, MPPX, { name: 'viem', version: versionOf('viem') }].map(
    ({ name, version }) => `${name}@${version}`
  )
  await promisify(execFile)('npm', ['install', ...options, ...packages], { cwd: scratch })
}

async function mppxIn(scratch: string): Promise<Mppx> {
  // Its exports are for `import` alone, which a resolver by `require` does not see.
  const load = async <T>(path: string): Promise<T> =>
    (await import(pathToFileURL(join(scratch, 'node_modules/mppx/dist', path)).href)) as T
  const [{ Mppx }, { evm }, { fromResponse }] = await Promise.all([
    load<{ Mppx: Pick<Mppx, 'create'> }>('client/index.js'),
    load<Pick<Mppx, 'evm'>>('evm/client/index.js'),
    load<{ fromResponse: Mppx['receiptOf'] }>('Receipt.js')
  ])
  return { create: Mppx.create, evm, receiptOf: fromResponse }
}

async function dexterIn(scratch: string): Promise<WrapFetch> {
  const entry = createRequire(join(scratch, 'main.js')).resolve(`${DEXTER.name}/client`)
  const { wrapFetch } = (await import(pathToFileURL(entry).href)) as { wrapFetch: WrapFetch }
  return wrapFetch
}
