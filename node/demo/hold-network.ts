import { join } from 'node:path'
import { homeDirectory, locateProfile } from '../config.ts'
import { type LocalNetwork, readLocalNetwork } from '../network/local-network.ts'
import { makeDirectory } from '../profile/private-file.ts'
import { lockProfile, type ProfileLock } from '../profile/profile-lock.ts'
import { readProfileJson, type RunningInfo } from '../profile/profile.ts'
import { SetupError } from '../setup-error.ts'
import type { Environment } from '../settings.ts'

/** The node of the demo that a user calls. */
export const DEMO_CONSUMER = 'demo-consumer'

/**
 * Holds a network of this machine for one process: two chains must not share one file.
 * @throws SetupError `profile_in_use`, with the address of the network that runs
 */
export async function holdNetwork(name: LocalNetwork, env: Environment): Promise<ProfileLock> {
  const home = homeDirectory(env)
  await makeDirectory(home)
  try {
    return lockProfile(join(home, `${name}.lock`), name)
  } catch (error) {
    if (!(error instanceof SetupError) || error.code !== 'profile_in_use') throw error
    const what = name === 'demo' ? 'The demo' : 'The network dev'
    const use = name === 'demo' ? `souk --profile ${DEMO_CONSUMER} search` : 'souk init --network dev'
    throw new SetupError('profile_in_use', `${what} already runs on this machine, ${await placeOf(name, env)}.`, {
      hint: `${use}; or for a second one: SOUK_HOME=<another folder> souk ${name}`
    })
  }
}

/** Where the network is reached; its folder while it starts. */
async function placeOf(name: LocalNetwork, env: Environment): Promise<string> {
  const home = homeDirectory(env)
  const consumer = (await readProfileJson(locateProfile(DEMO_CONSUMER, env), 'running')) as RunningInfo | undefined
  if (name === 'demo' && consumer?.ingress !== undefined) return `at ${consumer.ingress}/`
  const chain = name === 'dev' ? (await readLocalNetwork(home, name))?.chain.rpc : undefined
  return chain === undefined ? `in ${home}` : `with its chain at ${chain}`
}
