/**
 * Test tools for software that builds on Souk: `import { createTestnet } from 'souk/testing'`.
 *
 * @packageDocumentation
 */
export { createTestnet, type Testnet, type TestnetInit } from './testnet.ts'
