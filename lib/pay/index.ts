/**
 * Money on a chain: `import { createChannelTill } from 'souk/pay'`. Apart from `souk`, as it brings what speaks to chains: who serves or
 * calls free APIs, or keeps books elsewhere, loads none of it. Re-exports only.
 *
 * @packageDocumentation
 */
export { createChain } from './chain/chain.ts'
export {
  deploySplitters,
  type DeployedSplitters,
  type DeploySplittersInit,
  verifySplitters
} from './chain/deploy-splitters.ts'
export type { ChannelSummary } from './channel-summary.ts'
export { type ChannelTill, type ChannelTillInit, type ClosedChannel, createChannelTill } from './channel-till.ts'
export type { PayRules } from './payer/pay-rules.ts'
export type { Settlement } from './settle/settlement.ts'
export { CREATE2_DEPLOYER, type SplitterFactory, splitterFactory } from './chain/splitter.ts'
