import type { Tool } from '@modelcontextprotocol/server'
import { LRUCache } from 'lru-cache'
import { limits, sha256, SingleFlight, toHex, utf8 } from '../../lib/index.ts'
import type { Resolution } from '../../lib/interface/index.ts'

interface MadeList {
  readonly tools: readonly Tool[]
  /** False if an API could not be read just now. */
  readonly isWhole: boolean
}

/** Lists of tools. A list depends only on the selection and on the manifests of its APIs, so all agents share it. */
export class ListCache {
  readonly #made = new LRUCache<string, readonly Tool[]>({
    maxSize: limits.MCP_LISTS_CACHED_BYTES_MAX,
    sizeCalculation: (tools) => JSON.stringify(tools).length
  })
  readonly #making = new SingleFlight<string, readonly Tool[]>()

  /** @param make - makes the list, once for concurrent agents. It is kept if it is whole */
  get(
    selection: readonly unknown[],
    apis: readonly Resolution[],
    make: () => Promise<MadeList>
  ): readonly Tool[] | Promise<readonly Tool[]> {
    const parts = [utf8(JSON.stringify(selection)), ...apis.map(({ signed }) => signed.envelope)]
    const key = toHex(sha256(Buffer.concat(parts.map(sha256))))
    return this.#made.get(key) ?? this.#making.run(key, () => this.#make(key, make))
  }

  async #make(key: string, make: () => Promise<MadeList>): Promise<readonly Tool[]> {
    const { tools, isWhole } = await make()
    if (isWhole) this.#made.set(key, tools)
    return tools
  }
}
