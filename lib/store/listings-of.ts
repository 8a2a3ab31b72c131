import type { ListingIndex } from '../interface/listing-index.ts'

/** The index of a store. `opened` throws while the store is closed. */
export function listingsOf(opened: () => ListingIndex): ListingIndex {
  return {
    put: async (listings, bounds) => opened().put(listings, bounds),
    heads: async (ids) => opened().heads(ids),
    get: async (id) => opened().get(id),
    named: async (name, bounds) => opened().named(name, bounds),
    envelope: async (hash) => opened().envelope(hash),
    forget: async (id) => opened().forget(id),
    grade: async (grades) => opened().grade(grades),
    undescribed: async (now) => opened().undescribed(now),
    hasOperations: async (id, hash, root) => opened().hasOperations(id, hash, root),
    describe: async (put, bounds) => opened().describe(put, bounds),
    search: async (query) => opened().search(query),
    changes: async (after, bounds) => opened().changes(after, bounds),
    prune: async (now) => opened().prune(now)
  }
}
