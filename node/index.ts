/**
 * A whole node in your own process: profile, ingress and admin API included. Use `souk` for the library alone.
 *
 * @packageDocumentation
 */
export { type LoadOptions, loadConfig, locateProfile } from './config.ts'
export { type Network, NETWORKS } from './networks.ts'
export type { NodeInfo } from './node-info.ts'
export type { NodeConfig, PortPreference } from './node-config.ts'
export type { ProfileLocation } from './profile/profile.ts'
export { type RunningNode, type RunOptions, runNode } from './run.ts'
export { SetupError, type SetupErrorCode } from './setup-error.ts'
