/** Reduces a published schema to what documents use: a document that asks for anything else is invalid. */
import {
  buildClientSchema,
  type DocumentNode,
  type GraphQLSchema,
  getNamedType,
  type IntrospectionInputTypeRef,
  type IntrospectionOutputTypeRef,
  type IntrospectionQuery,
  type IntrospectionType,
  printSchema,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql'

type TypeRef = IntrospectionOutputTypeRef | IntrospectionInputTypeRef

const nameOf = (type: TypeRef): string =>
  'ofType' in type && type.ofType ? nameOf(type.ofType) : (type as { name: string }).name

/** Keeps the used fields with all their arguments, and whole input types and enums; drops whatever is deprecated. */
export function pruneSchema(
  { __schema }: IntrospectionQuery,
  documents: DocumentNode,
): { schema: GraphQLSchema; sdl: string } {
  const types = new Map(__schema.types.map((type) => [type.name, type]))
  const fields = findUsedFields(buildClientSchema({ __schema }, { assumeValid: true }), documents)
  const kept = new Set<string>()
  const keep = (name: string): void => {
    if (kept.has(name)) return
    kept.add(name)
    const type = types.get(name)!
    if (type.kind === 'UNION' || (type.kind === 'INTERFACE' && name !== 'Node')) {
      for (const each of type.possibleTypes) keep(each.name)
    }
    if (type.kind === 'INPUT_OBJECT') {
      for (const each of type.inputFields) if (!isDeprecated(each)) keep(nameOf(each.type))
    }
    if (type.kind !== 'OBJECT' && type.kind !== 'INTERFACE') return
    const used = fields.get(name) ?? new Set()
    fields.set(name, used)
    // A type needs a field.
    if (used.size === 0) used.add(type.fields.find((each) => isPlain(each, types))!.name)
    for (const { name: field, type: of, args } of type.fields) {
      if (!used.has(field)) continue
      keep(nameOf(of))
      for (const each of args) if (!isDeprecated(each)) keep(nameOf(each.type))
    }
  }
  for (const name of fields.keys()) keep(name)
  addInterfaceFields(types, kept, fields)
  const reduced = {
    __schema: {
      ...__schema,
      description: null,
      directives: [],
      types: [...kept]
        .sort()
        .map((name) => reduceType(types.get(name)!, kept, fields.get(name) ?? new Set())),
    },
  } as IntrospectionQuery
  const schema = buildClientSchema(reduced)
  return { schema, sdl: printSchema(schema) }
}

const isDeprecated = (each: object): boolean => (each as { isDeprecated?: boolean }).isDeprecated === true

type Field = Extract<IntrospectionType, { kind: 'OBJECT' }>['fields'][number]

const isPlain = (field: Field, types: ReadonlyMap<string, IntrospectionType>): boolean =>
  !field.isDeprecated && field.args.length === 0 && types.get(nameOf(field.type))!.kind === 'SCALAR'

/** The fields that documents ask for, by type. */
function findUsedFields(schema: GraphQLSchema, documents: DocumentNode): Map<string, Set<string>> {
  const used = new Map<string, Set<string>>()
  const info = new TypeInfo(schema)
  const of = (name: string): Set<string> => {
    const known = used.get(name) ?? new Set<string>()
    used.set(name, known)
    return known
  }
  const visitor = {
    Field: ({ name }: { name: { value: string } }) => {
      if (name.value !== '__typename') of(info.getParentType()!.name).add(name.value)
    },
    VariableDefinition: () => void of(getNamedType(info.getInputType())!.name),
    InlineFragment: () => void of(getNamedType(info.getType())!.name),
    FragmentDefinition: () => void of(getNamedType(info.getType())!.name),
  }
  visit(documents, visitWithTypeInfo(info, visitor))
  return used
}

function addInterfaceFields(
  types: ReadonlyMap<string, IntrospectionType>,
  kept: ReadonlySet<string>,
  fields: ReadonlyMap<string, Set<string>>,
): void {
  // Interfaces first: an object has the fields that its interfaces have of others.
  for (const kind of ['INTERFACE', 'OBJECT'] as const) {
    for (const name of kept) {
      const type = types.get(name)!
      if (type.kind !== kind) continue
      for (const { name: of } of type.interfaces) {
        if (kept.has(of)) for (const field of fields.get(of)!) fields.get(name)!.add(field)
      }
    }
  }
}

function reduceType(type: IntrospectionType, kept: ReadonlySet<string>, used: ReadonlySet<string>): object {
  const plain = { ...type, description: null }
  const clean = <T extends object>(all: readonly T[]) =>
    all.filter((each) => !isDeprecated(each)).map((each) => ({ ...each, description: null }))
  if (type.kind === 'ENUM') return { ...plain, enumValues: clean(type.enumValues) }
  if (type.kind === 'INPUT_OBJECT') return { ...plain, inputFields: clean(type.inputFields) }
  const known = (all: readonly { name: string }[]) => all.filter(({ name }) => kept.has(name))
  if (type.kind === 'UNION') return { ...plain, possibleTypes: known(type.possibleTypes) }
  if (type.kind !== 'OBJECT' && type.kind !== 'INTERFACE') return plain
  return {
    ...plain,
    interfaces: known(type.interfaces),
    ...(type.kind === 'INTERFACE' ? { possibleTypes: known(type.possibleTypes) } : {}),
    fields: type.fields
      .filter(({ name }) => used.has(name))
      .map((each) => ({ ...each, description: null, args: clean(each.args) })),
  }
}
