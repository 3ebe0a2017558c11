/** The cost of GraphQL: an object 1, a connection 2 and its objects, a mutation 10. */
import {
  type DocumentNode,
  type FieldNode,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  type SelectionSetNode,
  valueFromASTUntyped,
} from 'graphql'

export type Variables = Record<string, unknown>

/** The maximum cost of an operation. */
export function requestedCost(
  document: DocumentNode,
  { operation, selectionSet }: OperationDefinitionNode,
  variables: Variables,
): number {
  const all = computeCost(selectionSet, { document, variables })
  return operation === OperationTypeNode.MUTATION ? 10 + all - selectionSet.selections.length : all
}

interface Request {
  document: DocumentNode
  variables: Variables
}

function computeCost({ selections }: SelectionSetNode, request: Request): number {
  let fields = 0
  let union = 0
  for (const each of selections) {
    if (each.kind === Kind.FRAGMENT_SPREAD) fields += fragmentCost(each.name.value, request)
    else if (each.kind === Kind.FIELD) fields += fieldCost(each, request)
    else union = Math.max(union, computeCost(each.selectionSet, request))
  }
  return fields + union
}

function fragmentCost(name: string, request: Request): number {
  for (const each of request.document.definitions) {
    if (each.kind === Kind.FRAGMENT_DEFINITION && each.name.value === name) {
      return computeCost(each.selectionSet, request)
    }
  }
  throw new Error(`The document has no fragment ${name}`)
}

function fieldCost(field: FieldNode, request: Request): number {
  const { selectionSet, name } = field
  if (!selectionSet || name.value === 'pageInfo') return 0
  const args = new Map(
    field.arguments?.map((each) => [each.name.value, valueFromASTUntyped(each.value, request.variables)]),
  )
  // The nodes are counted by the connection that they belong to.
  const inside = computeCost(selectionSet, request) - (isConnection(selectionSet, request.document) ? 1 : 0)
  if (args.has('ids')) return (args.get('ids') as unknown[]).length * (1 + inside)
  if (!args.has('first')) return 1 + inside
  const first = Number(args.get('first'))
  return isConnection(selectionSet, request.document) ? 2 + first * (1 + inside) : first * (1 + inside)
}

const isConnection = ({ selections }: SelectionSetNode, document: DocumentNode): boolean =>
  selections.some((each) => {
    if (each.kind === Kind.FIELD) return each.name.value === 'nodes'
    if (each.kind === Kind.INLINE_FRAGMENT) return false
    const fragment = document.definitions.find((its) => 'name' in its && its.name?.value === each.name.value)
    return fragment?.kind === Kind.FRAGMENT_DEFINITION && isConnection(fragment.selectionSet, document)
  })

/** The actual cost: the returned objects. */
export function actualCost(data: unknown): number {
  if (Array.isArray(data)) return data.reduce<number>((sum, each) => sum + actualCost(each), 0)
  if (data === null || typeof data !== 'object') return 0
  const { pageInfo: _page, ...rest } = data as Record<string, unknown>
  return 1 + Object.values(rest).reduce<number>((sum, each) => sum + actualCost(each), 0)
}
