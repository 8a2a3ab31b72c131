import {
  type GraphQLError,
  type GraphQLSchema,
  Kind,
  NoSchemaIntrospectionCustomRule,
  type OperationDefinitionNode,
  OverlappingFieldsCanBeMergedRule,
  getVariableValues,
  isEnumType,
  recommendedRules,
  specifiedRules,
  validate
} from 'graphql'
import { LRUCache } from 'lru-cache'
import { within } from '../../lib/base/within.ts'
import {
  GRAPHQL_DOCUMENTS_CACHED_MAX,
  GRAPHQL_DOCUMENT_CHARS_CACHED_MAX,
  GRAPHQL_ERRORS_MAX,
  GRAPHQL_MERGED_SELECTIONS_MAX,
  GRAPHQL_SUGGESTED_CHARS_MAX
} from '../../lib/base/limits/graphql.ts'
import type { GraphqlTerms } from '../../lib/interface/adapter.ts'
import { type ReadDocument, operationIn, readDocument, tooDeep } from './document.ts'
import { GraphqlRefusal, invalid } from './graphql-refusal.ts'
import type { GraphqlRequest, JsonObject } from './graphql-request.ts'
import { limitsIn } from './graphql-terms.ts'
import { measure } from './measure.ts'
import { persistedDocuments } from './persisted-documents.ts'
import type { SchemaSource } from './schema-source.ts'

/** An operation that passed all checks. */
export interface CheckedOperation {
  readonly document: ReadDocument
  readonly node: OperationDefinitionNode
  /** In cost units. */
  readonly cost: number
}

/** Checks a request before it is charged or reaches the API. */
export interface DocumentCheck {
  /** @throws GraphqlRefusal, and the signal's reason */
  check(request: GraphqlRequest, signal: AbortSignal): Promise<CheckedOperation>
}

const RULES = [...specifiedRules, ...recommendedRules]
const RULES_WITHOUT_MERGING = RULES.filter((rule) => rule !== OverlappingFieldsCanBeMergedRule)

/** @throws SoukError `invalid_request` for invalid terms */
export function createDocumentCheck(terms: GraphqlTerms, schemas: SchemaSource): DocumentCheck {
  const limits = limitsIn(terms)
  const persisted = persistedDocuments(terms)
  /** Suggestions such as "Did you mean" would reveal the names of a hidden schema. */
  const told = (schema: GraphQLSchema) => ({
    maxErrors: GRAPHQL_ERRORS_MAX,
    hideSuggestions: terms.introspection === false || !suggests(schema)
  })
  const suggesting = new WeakMap<GraphQLSchema, boolean>()
  const read = new LRUCache<string, ReadDocument>({
    max: GRAPHQL_DOCUMENTS_CACHED_MAX,
    maxSize: GRAPHQL_DOCUMENT_CHARS_CACHED_MAX,
    sizeCalculation: ({ text }) => Math.max(1, text.length)
  })
  /** Documents that are valid for a schema. Their validity depends only on the schema. */
  const valid = new WeakMap<ReadDocument, GraphQLSchema>()

  /** A wrong name is compared with all names, which takes time in proportion to them. */
  function suggests(schema: GraphQLSchema): boolean {
    const before = suggesting.get(schema)
    if (before !== undefined) return before
    const isShort = charsComparedIn(schema) <= GRAPHQL_SUGGESTED_CHARS_MAX
    suggesting.set(schema, isShort)
    return isShort
  }

  function documentOf(text: string): ReadDocument {
    const before = read.get(text)
    if (before !== undefined) return before
    const document = readDocument(text, limits)
    read.set(text, document)
    return document
  }

  function errorsOf(
    schema: GraphQLSchema | undefined,
    document: ReadDocument,
    { variableDefinitions = [] }: OperationDefinitionNode,
    variables: JsonObject
  ): Found {
    if (schema === undefined) return { variables }
    if (valid.get(document) !== schema) {
      const errors = validate(schema, document.node, rulesFor(document, terms), told(schema))
      if (errors.length > 0) return { errors, code: 'GRAPHQL_VALIDATION_FAILED' }
      valid.set(document, schema)
    }
    const { variableValues, errors } = getVariableValues(schema, variableDefinitions, variables, told(schema))
    return variableValues === undefined ? { errors, code: 'BAD_USER_INPUT' } : { variables: variableValues.coerced }
  }

  return {
    async check(request, signal) {
      const document = documentOf(persisted.textFor(request))
      const node = operationIn(document, request.operationName)
      let schema = await schemas.current
      let found = errorsOf(schema, document, node, request.variables)
      if (found.errors !== undefined) {
        // The API's schema may have changed since it was read.
        await within(schemas.refresh(), signal)
        const fresh = await schemas.current
        if (fresh !== schema) found = errorsOf((schema = fresh), document, node, request.variables)
      }
      if (found.errors !== undefined) throw new GraphqlRefusal('invalid', found.code, found.errors)
      const { variables } = found
      const { depth, cost } = measure({
        document,
        operation: node,
        variables,
        schema,
        costs: terms.costs ?? {}
      })
      if (depth > limits.depthMax) throw tooDeep(limits.depthMax)
      if (limits.costMax !== undefined && cost > limits.costMax) {
        throw invalid(`The operation costs ${cost} units; this API allows ${limits.costMax}.`, 'TOO_COSTLY')
      }
      return { document, node, cost }
    }
  }
}

/** The total length of the largest set of names that one name is compared with: all types, or one type's fields or values. */
function charsComparedIn(schema: GraphQLSchema): number {
  const charsOf = (names: readonly string[]) => names.reduce((sum, name) => sum + name.length, 0)
  const types = Object.values(schema.getTypeMap())
  const members = types.map((type) => {
    if (isEnumType(type)) return charsOf(type.getValues().map(({ name }) => name))
    return 'getFields' in type ? charsOf(Object.keys(type.getFields())) : 0
  })
  return members.reduce((most, chars) => Math.max(most, chars), charsOf(types.map(({ name }) => name)))
}

type Found =
  | { readonly errors: readonly GraphQLError[]; readonly code: string; readonly variables?: never }
  | { readonly errors?: never; readonly variables: JsonObject }

function rulesFor({ selections }: ReadDocument, { introspection = true }: GraphqlTerms) {
  const rules = selections > GRAPHQL_MERGED_SELECTIONS_MAX ? RULES_WITHOUT_MERGING : RULES
  return introspection ? rules : [...rules, NoSchemaIntrospectionCustomRule]
}

/** Whether the operation asks for the schema. At the root, names with two underscores are reserved for that. */
export function asksForSchema({ document, node }: CheckedOperation): 'no' | 'alone' | 'beside' {
  const names = new Set<string>()
  const collect = (selections: OperationDefinitionNode['selectionSet']['selections'], seen: Set<string>): void => {
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD) {
        names.add(selection.name.value)
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        collect(selection.selectionSet.selections, seen)
      } else if (!seen.has(selection.name.value)) {
        seen.add(selection.name.value)
        const fragment = document.node.definitions.find(
          (one) => one.kind === Kind.FRAGMENT_DEFINITION && one.name.value === selection.name.value
        )
        if (fragment?.kind === Kind.FRAGMENT_DEFINITION) collect(fragment.selectionSet.selections, seen)
      }
    }
  }
  collect(node.selectionSet.selections, new Set())
  const asked = [...names].filter((name) => name === '__schema' || name === '__type').length
  if (asked === 0) return 'no'
  return [...names].every((name) => name.startsWith('__')) ? 'alone' : 'beside'
}
