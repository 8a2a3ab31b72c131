import { resolve } from 'node:path'
import { locateProfile } from '../../config.ts'
import type { ProfileBackup } from '../../profile/profile-backup.ts'
import type { AddCommand, Cli } from '../cli.ts'

export const addBackup: AddCommand = (to, cli) => {
  to.command('backup')
    .description('copy everything this node keeps into a new directory, also while it runs')
    .argument('<directory>', 'a new one, best on another disk; it holds keys, so keep it as safe as these')
    .action(async (directory: string) => {
      const made = await backUp(cli, resolve(directory))
      await cli.print(made, () => [made.directory])
      cli.terminal.note(`Backed up ${made.files.join(', ')}: ${size(made.bytes)}.`)
      cli.terminal.note('What happens from now on is not in it. Get it back by: souk restore <directory>')
    })
}

export const addRestore: AddCommand = (to, cli) => {
  to.command('restore')
    .description('make a profile of a backup, where there is none yet')
    .argument('<directory>', 'that souk backup made')
    .action(async (directory: string) => {
      const { restoreProfile } = await import('../../profile/profile-backup.ts')
      const profile = locateProfile(cli.profile, cli.terminal.env)
      const made = await cli.during('Copying', restoreProfile(profile, resolve(directory)))
      await cli.print(made, () => [made.directory])
      cli.terminal.note(`Restored the profile "${profile.name}": ${made.files.join(', ')}.`)
      cli.terminal.note('Never run it while the node it was copied from still runs: they are the same node.')
      cli.terminal.note(`Try: souk up --profile ${profile.name}, then souk doctor`)
    })
}

/** The node that runs copies its own store, which nobody else can open meanwhile. */
async function backUp(cli: Cli, directory: string): Promise<ProfileBackup> {
  try {
    return await (await cli.node()).request('POST /backups', { body: { directory } })
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error) || error.code !== 'node_not_running') throw error
  }
  const { backUpStopped } = await import('../../profile/profile-backup.ts')
  return cli.during('Copying', backUpStopped(locateProfile(cli.profile, cli.terminal.env), directory))
}

const MIB = 2 ** 20

function size(bytes: number): string {
  return bytes < MIB ? `${Math.ceil(bytes / 1024)} KiB` : `${(bytes / MIB).toFixed(1)} MiB`
}
