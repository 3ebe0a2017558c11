/** The cost of GraphQL: an object 1, a connection 2 and its objects, a mutation 10. */
import {
  type FieldNode,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  type SelectionSetNode,
  valueFromASTUntyped,
} from 'graphql'

export type Variables = Record<string, unknown>

/** The maximum cost of an operation. */
export function requestedCost({ operation, selectionSet }: OperationDefinitionNode, variables: Variables) {
  const all = computeCost(selectionSet, variables)
  return operation === OperationTypeNode.MUTATION ? 10 + all - selectionSet.selections.length : all
}

function computeCost({ selections }: SelectionSetNode, variables: Variables): number {
  let fields = 0
  let union = 0
  for (const each of selections) {
    if (each.kind === Kind.FRAGMENT_SPREAD) throw new Error('The stand-in knows inline fragments alone')
    if (each.kind === Kind.FIELD) fields += fieldCost(each, variables)
    else union = Math.max(union, computeCost(each.selectionSet, variables))
  }
  return fields + union
}

function fieldCost(field: FieldNode, variables: Variables): number {
  const { selectionSet, name } = field
  if (!selectionSet || name.value === 'pageInfo') return 0
  const args = new Map(
    field.arguments?.map((each) => [each.name.value, valueFromASTUntyped(each.value, variables)]),
  )
  const inside = computeCost(selectionSet, variables)
  if (args.has('ids')) return (args.get('ids') as unknown[]).length * (1 + inside)
  if (!args.has('first')) return 1 + inside
  const isConnection = selectionSet.selections.some(
    (each) => each.kind === Kind.FIELD && each.name.value === 'nodes',
  )
  const first = Number(args.get('first'))
  return isConnection ? 2 + first * inside : first * (1 + inside)
}

/** The actual cost: the returned objects. */
export function actualCost(data: unknown): number {
  if (Array.isArray(data)) return data.reduce<number>((sum, each) => sum + actualCost(each), 0)
  if (data === null || typeof data !== 'object') return 0
  const { pageInfo: _page, ...rest } = data as Record<string, unknown>
  return 1 + Object.values(rest).reduce<number>((sum, each) => sum + actualCost(each), 0)
}
