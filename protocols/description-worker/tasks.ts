/**
 * The tasks of the worker processes, by name. Inputs and outputs can be cloned (`structuredClone`). A task is loaded when it is
 * first needed.
 */
export const TASKS = {
  checkCall: async () => (await import('../rest/call-check/check-call.ts')).checkCall,
  checkCode: async () => (await import('../rest/call-check/check-code.ts')).checkCode,
  importSchema: async () => (await import('../graphql/schema-import.ts')).importSchema,
  describeSchema: async () => (await import('../graphql/schema-import.ts')).describeStored,
  introspect: async () => (await import('../graphql/own-introspection.ts')).introspect,
  describeSnapshot: async () => (await import('../rest/openapi/openapi-description.ts')).describeSnapshot,
  importOpenapi: async () => (await import('../rest/openapi/openapi-import.ts')).importOpenapi,
  outlineOpenapi: async () => (await import('../rest/openapi/openapi-outline.ts')).outlineOpenapi,
  readWsdl: async () => (await import('../soap/wsdl-tasks.ts')).readWsdl,
  renewWsdl: async () => (await import('../soap/wsdl-tasks.ts')).renewWsdl,
  checkWsdlMapping: async () => (await import('../soap/wsdl-tasks.ts')).checkWsdlMapping,
  mapWsdl: async () => (await import('../soap/wsdl-tasks.ts')).mapWsdl
}
