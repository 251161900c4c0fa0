/** Lets a message be said once for each subject, since the same problem would appear with every resource. */
export class Once {
  readonly #subjects = new Set<string>();

  /** Adds the subject. Returns whether it is new. */
  add(subject: string): boolean {
    const isNew = !this.#subjects.has(subject);
    this.#subjects.add(subject);
    return isNew;
  }
}
