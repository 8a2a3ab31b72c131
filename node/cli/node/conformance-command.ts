import type { Finding } from '../../conformance/finding.ts'
import type { AddCommand, Cli } from '../cli.ts'
import { EXIT } from '../terminal/exit-code.ts'
import { UsageError } from '../terminal/usage-error.ts'

interface Flags {
  readonly api?: string
}

const WORDS = { holds: 'holds', broken: 'BROKEN', skipped: 'skipped' } as const

/** Checks of other implementations of the protocol. */
export const addConformance: AddCommand = (to, cli) => {
  const conformance = to.command('conformance').description('check implementations of the protocol')
  conformance
    .command('consumer')
    .description('serve a free API to a consumer that calls it in a loop, and print which rules of the protocol hold')
    .option('--listen <multiaddr>', 'address to listen on', '/ip4/127.0.0.1/tcp/0')
    .option('--name <network>', 'name of the network in the hello', 'dev')
    .action(async ({ listen, name }: { listen: string; name: string }) => {
      const { judgeConsumer } = await import('../../conformance/judge-consumer.ts')
      const onReady = ({ address, api }: { address: string; api: string }) =>
        cli.terminal.note(
          `Call ${api} at ${address} by POST with an empty JSON object, again and again until the result is here.`
        )
      await told(cli, await judgeConsumer({ network: name, listen, onReady }))
    })
  conformance
    .command('peer')
    .description('call a peer as a consumer, and print which rules of the protocol hold; exits 1 if one does not')
    .argument('<multiaddr>', 'address of the peer, with its id')
    .option('--api <name@provider>', 'a free API of the peer that takes POST with an empty JSON object')
    .action(async (address: string, { api }: Flags) => {
      const { addressIn, judgePeer } = await import('../../conformance/judge-peer.ts')
      if (addressIn(address) === undefined) {
        throw new UsageError(
          `"${address}" is not the address of a peer with its id.`,
          'souk status, which shows it as p2p'
        )
      }
      const work = judgePeer({ address, ...(api === undefined ? {} : { api }) })
      const findings = await cli.during('checking the peer', work)
      await told(cli, findings)
    })
}

async function told(cli: Cli, findings: readonly Finding[]): Promise<void> {
  await cli.print({ findings }, () => [...findings.map(line), summary(findings)])
  if (findings.some(({ result }) => result === 'broken')) cli.exitCode = EXIT.failed
}

function line({ section, rule, result, detail }: Finding): string {
  return `${section.padEnd(12)} ${WORDS[result].padEnd(8)} ${rule}${detail === '' ? '' : `: ${detail}`}`
}

function summary(findings: readonly Finding[]): string {
  const count = (wanted: Finding['result']) => findings.filter(({ result }) => result === wanted).length
  return `${count('holds')} rules hold, ${count('broken')} are broken, ${count('skipped')} were skipped.`
}
