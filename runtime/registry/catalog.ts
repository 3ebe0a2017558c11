/** Builds the catalog: the information about all operations and jobs that handlers can read (`services.catalog`). */
import type { Catalog } from '#runtime/context'
import { getDescriptorText, listRunnable } from '#runtime/documents/descriptors'
import { getOpenApiText } from '#runtime/documents/openapi'
import { checkAccess } from '#runtime/gateway/access'
import { JsonText } from '#runtime/operation'
import type { Registry } from './loaded.ts'

export const buildCatalog = (registry: Registry): Catalog => ({
  document: () => getOpenApiText(registry),
  runnable: (access, now) => listRunnable(registry, access, now).map(getDescriptorText),
  mayRun(id, access, now) {
    const operation = registry.byId(id)
    return (
      operation !== undefined && checkAccess(operation, access, now, registry.extensions.entitlement) === null
    )
  },
  async read(ctx, path, query) {
    const operation = registry.operations.find(
      ({ spec }) => spec.method === 'GET' && spec.path === path && spec.readOnly,
    )
    if (!operation) return undefined
    const { spec } = operation
    const parsed = spec.input?.query ? spec.input.query.parse(query) : undefined
    const result = await spec.handler(ctx, { params: {}, query: parsed, body: undefined } as never)
    return JSON.parse(result instanceof JsonText ? result.text : JSON.stringify(result))
  },
  job(name) {
    const found = registry.jobs.find((each) => each.name === name)
    return found && { description: found.spec.description, handlesFailure: found.spec.failed !== undefined }
  },
})
