import type { AddCommand, Cli } from '../cli.ts'
import { addSetupOptions, init, type InitFlags } from './init-command.ts'
import { loadConfig } from '../../config.ts'

type NodeConfig = Awaited<ReturnType<typeof loadConfig>>

/** A running node looks for a newer file only where its network publishes one. */
export const RESTART = 'Restart a running node of this profile to use it.'

export const addJoin: AddCommand = (to, cli) => {
  const join = to
    .command('join')
    .description('join the network of an invitation, or take a newer revision of its file')
    .argument('<invitation...>', 'line printed by souk invite; or the path or https URL of a network file')
  addSetupOptions(join).action(async (words: readonly string[], flags: InitFlags) => {
    const { readInvitation } = await import('../../network/network-service.ts')
    const invitation = await readInvitation(words.join(' '))
    if (!(await updated(cli, invitation.network))) await init(cli, flags, invitation)
  })
}

export const addInvite: AddCommand = (to, cli) => {
  to.command('invite')
    .description('print one line by which others join the network of this node')
    .option('--url <url>', 'where the network file is published, if this node did not join from there')
    .action(async ({ url }: { url?: string }) => {
      const config = await loadConfig({ flags: {}, profile: cli.profile, env: cli.terminal.env })
      const { invite } = await import('../../network/network-service.ts')
      const peers = await runningPeers(cli)
      const invitation = invite(config, peers, url)
      await cli.print({ network: config.network.name, invitation }, () => [`souk join ${invitation}`])
      if (peers.length === 0 && config.network.bootstrap.length === 0)
        cli.note('It names no peer. Start this node first (souk up), and the invitation will name it.')
    })
}

/**
 * Takes the file of an invitation into a profile that joined its network before.
 * @returns false if the profile is new or of another network
 */
async function updated(cli: Cli, network: NodeConfig['network']): Promise<boolean> {
  const options = { flags: {}, profile: cli.profile, env: cli.terminal.env }
  const known = await loadConfig(options).catch(() => undefined)
  if (known?.network.name !== network.name) return false
  const { network: newest, profile } = await loadConfig({ ...options, joining: network })
  const { rememberNetworkFile } = await import('../../profile/saved-settings.ts')
  await rememberNetworkFile(profile, newest)
  const revision = newest.file?.revision
  await cli.print({ network: newest.name, revision }, () => [`The profile has revision ${revision} of ${newest.name}.`])
  if (revision !== known.network.file?.revision) cli.terminal.note(RESTART)
  return true
}

/** Addresses of the running node; none if it does not run. */
async function runningPeers(cli: Cli): Promise<readonly string[]> {
  try {
    return (await (await cli.node()).request('GET /status')).p2p
  } catch {
    return []
  }
}
