/** Lets a message be said once for each subject, since the same problem would appear with every resource. */
export class Once {
  readonly #subjects = new Set<string>();

  /** Whether this is the first call with this subject. */
  isFirst(subject: string): boolean {
    const isFirst = !this.#subjects.has(subject);
    this.#subjects.add(subject);
    return isFirst;
  }
}
