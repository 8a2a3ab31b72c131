/**
 * What you test with when you build on Souk: `import { createTestnet } from 'souk/testing'`.
 *
 * @packageDocumentation
 */
export { createTestnet, type Testnet, type TestnetInit } from './testnet.ts'
