/** The syntax of a file, for all rules that look at it at about the same time: it is let go when memory is wanted. */
import ts from 'typescript'

const known = new Map<string, WeakRef<ts.SourceFile>>()

export function sourceOf(file: string, code: string): ts.SourceFile {
  const before = known.get(file)?.deref()
  if (before?.text === code) return before
  const source = ts.createSourceFile(file, code, ts.ScriptTarget.Latest, true)
  known.set(file, new WeakRef(source))
  return source
}
