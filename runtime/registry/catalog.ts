/** What handlers may know of the operations and jobs beside theirs. */
import type { Catalog } from '#runtime/context'
import { descriptorText, runnableBy } from '#runtime/documents/descriptors'
import { openApiText } from '#runtime/documents/openapi'
import { refusalOf } from '#runtime/gateway/access'
import { JsonText } from '#runtime/operation'
import type { Registry } from './loaded.ts'

export const catalogOf = (registry: Registry): Catalog => ({
  document: () => openApiText(registry),
  runnable: (access, now) => runnableBy(registry, access, now).map(descriptorText),
  mayRun(id, access, now) {
    const operation = registry.byId(id)
    return operation !== undefined && refusalOf(operation, access, now, registry.wired.entitlement) === null
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
    return found && { description: found.spec.description, tellsOfFailure: found.spec.failed !== undefined }
  },
})
