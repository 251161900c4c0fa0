// Create, wait for, read back and import virtual servers of the Compute Instances Service.
package compute
