import { resolve } from 'node:path'
import { locateProfile } from '../../config.ts'
import type { ProfileBackup } from '../../profile/profile-backup.ts'
import type { AddCommand, Cli } from '../cli.ts'

export const addBackup: AddCommand = (to, cli) => {
  to.command('backup')
    .description('back up this node into a new directory, also while it runs')
    .argument('<directory>', 'new directory, preferably on another disk; it contains keys, so protect it')
    .action(async (directory: string) => {
      const made = await backUp(cli, resolve(directory))
      await cli.print(made, () => [made.directory])
      cli.terminal.note(`Backed up ${made.files.join(', ')}: ${size(made.bytes)}.`)
      cli.note('Later changes are not included. To restore the backup: souk restore <directory>')
    })
}

export const addRestore: AddCommand = (to, cli) => {
  to.command('restore')
    .description('create a profile from a backup')
    .argument('<directory>', 'directory made by souk backup')
    .action(async (directory: string) => {
      const { restoreProfile } = await import('../../profile/profile-backup.ts')
      const profile = locateProfile(cli.profile, cli.terminal.env)
      const made = await cli.during('Copying', restoreProfile(profile, resolve(directory)))
      await cli.print(made, () => [made.directory])
      cli.terminal.note(`Restored the profile "${profile.name}": ${made.files.join(', ')}.`)
      cli.terminal.note('Never run it while the original node still runs: both have the same identity.')
      cli.note('Try: souk up, then souk doctor')
    })
}

/** A running node makes the backup itself, because no other process can open its store. */
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
