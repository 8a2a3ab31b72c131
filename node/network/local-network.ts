import { join } from 'node:path'
import { makeDirectory, readPrivateFile, writePrivateFile } from '../profile/private-file.ts'
import { formatNetworkFile, readNetworkFile } from './network-file.ts'
import type { NetworkFile } from './network-file-schema.ts'

/** Networks that run on this machine. Their file stands beside the profiles, and changes with their ports. */
export const LOCAL_NETWORKS = ['demo', 'dev'] as const
export type LocalNetwork = (typeof LOCAL_NETWORKS)[number]

export function isLocalNetwork(name: string): name is LocalNetwork {
  return LOCAL_NETWORKS.some((local) => local === name)
}

/** @returns undefined if the network never ran here */
export async function readLocalNetwork(home: string, name: LocalNetwork): Promise<NetworkFile | undefined> {
  const bytes = await readPrivateFile(fileOf(home, name))
  return bytes === undefined ? undefined : readNetworkFile(new TextDecoder().decode(bytes))
}

export async function writeLocalNetwork(home: string, name: LocalNetwork, file: NetworkFile): Promise<void> {
  await makeDirectory(home)
  await writePrivateFile(fileOf(home, name), formatNetworkFile(file))
}

function fileOf(home: string, name: LocalNetwork): string {
  return join(home, `${name}-network.json`)
}
